#!/bin/sh
# Installs the mm executable for this machine, its manual page and its completions for one user.
#
#   sh install.sh                          the release that this script belongs to
#   MM_FROM=./build/release sh install.sh  files of a directory, or of another https address
#   PREFIX=/opt/mm sh install.sh           another place than ~/.local
#
# It needs no root, checks the SHA-256 of what it installs, and changes nothing outside of PREFIX. Where
# anything is wrong, nothing is installed. Remove what it lists at its end to uninstall.
set -eu

# Filled in when a release is made.
default_from='@REPOSITORY@/releases/download/v@VERSION@'

fail() {
  printf 'install.sh: %s\n' "$1" >&2
  exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

# Prints the name of this machine's target, as the released files are named.
target() {
  system=$(uname -s)
  machine=$(uname -m)
  case $system in
    Linux)
      if (ldd --version 2>&1 || true) | grep -qi musl; then
        fail 'the executable needs glibc, and this system has musl; install the npm package @mm/cli instead'
      fi
      os=linux
      ;;
    Darwin)
      os=macos
      # A shell that is translated by Rosetta calls an Apple processor x86_64.
      if [ "$(sysctl -n sysctl.proc_translated 2>/dev/null || echo 0)" = 1 ]; then machine=arm64; fi
      ;;
    MINGW* | MSYS* | CYGWIN*)
      fail 'on Windows, download mm-windows-x64.exe of the release and name it mm.exe'
      ;;
    *)
      fail "there is no executable for the system \"$system\"; install the npm package @mm/cli instead"
      ;;
  esac
  case $machine in
    x86_64 | amd64) echo "$os-x64" ;;
    aarch64 | arm64) echo "$os-arm64" ;;
    *)
      fail "there is no executable for the processor \"$machine\"; install the npm package @mm/cli instead"
      ;;
  esac
}

# fetch NAME: brings a file of the release into the working directory.
fetch() {
  case $from in
    https://* | http://127.0.0.1:* | http://localhost:*)
      if has curl; then
        curl --fail --silent --show-error --location --output "$work/$1" "$from/$1" ||
          fail "cannot download \"$from/$1\""
      elif has wget; then
        wget -q -O "$work/$1" "$from/$1" || fail "cannot download \"$from/$1\""
      else
        fail 'downloading needs curl or wget; install one of them, or name a directory with MM_FROM'
      fi
      ;;
    *://*) fail "MM_FROM is \"$from\"; give an address that begins with https://, or a directory" ;;
    *)
      [ -f "$from/$1" ] || fail "there is no file \"$from/$1\""
      cp -- "$from/$1" "$work/$1" || fail "cannot copy \"$from/$1\""
      ;;
  esac
}

# sum FILE: prints a file's SHA-256.
sum() {
  if has sha256sum; then
    sha256sum <"$1" | cut -d ' ' -f 1
  elif has shasum; then
    shasum -a 256 <"$1" | cut -d ' ' -f 1
  elif has openssl; then
    openssl dgst -sha256 -r <"$1" | cut -d ' ' -f 1
  else
    fail 'checking the download needs sha256sum, shasum or openssl; install one of them'
  fi
}

# place FILE MODE: puts an unpacked file under the prefix, whole or not at all.
place() {
  mkdir -p -- "$prefix/${1%/*}" 2>/dev/null ||
    fail "cannot make the directory \"$prefix/${1%/*}\"; set PREFIX to a place that you may write to"
  # A running mm keeps the file that it was started from.
  if ! { cp -- "$work/unpacked/$1" "$prefix/$1.new" && chmod "$2" "$prefix/$1.new" &&
    mv -f -- "$prefix/$1.new" "$prefix/$1"; }; then
    rm -f -- "$prefix/$1.new"
    fail "cannot write \"$prefix/$1\"; make room, or set PREFIX to a place that you may write to"
  fi
  printf '  %s\n' "$prefix/$1"
}

main() {
  from=${MM_FROM:-$default_from}
  case $from in @*) fail 'set MM_FROM to the directory or the https address of a release' ;; esac
  from=${from%/}
  [ -n "${PREFIX:-}${HOME:-}" ] || fail 'neither PREFIX nor HOME is set; set PREFIX to where mm shall be'
  prefix=${PREFIX:-$HOME/.local}
  case $prefix in
    /*) ;;
    *) prefix=$PWD/$prefix ;;
  esac
  for tool in uname tar mktemp cut grep; do
    has "$tool" || fail "the program \"$tool\" is missing; install it and try again"
  done
  target=$(target)
  archive=mm-$target.tar.gz
  work=$(mktemp -d) || fail 'cannot make a temporary directory; set TMPDIR to a place that you may write to'
  trap 'rm -rf -- "$work"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM

  printf 'Installing mm for %s from %s\n' "$target" "$from"
  fetch SHA256SUMS
  expected=$(grep "  $archive\$" "$work/SHA256SUMS" | cut -d ' ' -f 1)
  [ -n "$expected" ] || fail "this release has no \"$archive\""
  fetch "$archive"
  actual=$(sum "$work/$archive")
  [ "$actual" = "$expected" ] ||
    fail "\"$archive\" is not the released file: its SHA-256 is $actual and not $expected; nothing was installed"

  mkdir -p -- "$work/unpacked/bin"
  tar -xzf "$work/$archive" -C "$work/unpacked" || fail "cannot unpack \"$archive\"; make room in ${TMPDIR:-/tmp}"
  mv -- "$work/unpacked/mm" "$work/unpacked/bin/mm"
  version=$("$work/unpacked/bin/mm" -version) || fail 'the executable does not run on this system; nothing was installed'
  place bin/mm 755
  place share/man/man1/mm.1 644
  place share/bash-completion/completions/mm 644
  place share/zsh/site-functions/_mm 644
  place share/fish/vendor_completions.d/mm.fish 644

  printf 'Installed %s\n' "$version"
  case :${PATH:-}: in
    *":$prefix/bin:"*)
      found=$(command -v mm || true)
      if [ "$found" != "$prefix/bin/mm" ]; then
        printf 'Note: "mm" is "%s"; put "%s" before it in PATH\n' "$found" "$prefix/bin"
      fi
      ;;
    *) printf 'Note: "%s" is not in PATH; add it in the profile of your shell\n' "$prefix/bin" ;;
  esac
}

# Called at the end, so that a script that was cut off while it came does nothing.
main
