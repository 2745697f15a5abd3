# The Homebrew formula of mm, for a tap of its own. The release fills in what stands between @ signs.
class Mm < Formula
  desc "Coding agent that can ask other agents"
  homepage "@REPOSITORY@"
  version "@VERSION@"
  license "MIT"

  on_macos do
    on_arm do
      url "@URL_MACOS_ARM64@"
      sha256 "@SHA256_MACOS_ARM64@"
    end
    on_intel do
      url "@URL_MACOS_X64@"
      sha256 "@SHA256_MACOS_X64@"
    end
  end

  on_linux do
    on_arm do
      url "@URL_LINUX_ARM64@"
      sha256 "@SHA256_LINUX_ARM64@"
    end
    on_intel do
      url "@URL_LINUX_X64@"
      sha256 "@SHA256_LINUX_X64@"
    end
  end

  def install
    bin.install "mm"
    man1.install "share/man/man1/mm.1"
    bash_completion.install "share/bash-completion/completions/mm"
    zsh_completion.install "share/zsh/site-functions/_mm"
    fish_completion.install "share/fish/vendor_completions.d/mm.fish"
    prefix.install "THIRD_PARTY_LICENSES"
  end

  test do
    assert_match "mm #{version} ", shell_output("#{bin}/mm -version")
    assert_match "All four worked", shell_output("#{bin}/mm -demo")
  end
end
