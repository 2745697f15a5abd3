/**
 * The platforms that mm is released for, and what an executable of each has to be.
 *
 * @module
 */

/** The formats of executables. */
export type ExecutableFormat = "ELF" | "Mach-O" | "PE";

/** One platform. */
export interface Target {
  /** mm's own name, in the names of the files: `linux-x64`. */
  readonly name: string;
  /** What Deno calls it: `x86_64-unknown-linux-gnu`. */
  readonly deno: string;
  /** What the ACP registry calls it: `linux-x86_64`. */
  readonly acp: string;
  readonly format: ExecutableFormat;
  /** The number of the processor in the header of the format. */
  readonly machine: number;
  /** Name of the released file. */
  readonly file: string;
  /** Name of the executable in it. */
  readonly executable: string;
}

/** `e_machine` of ELF: EM_X86_64 and EM_AARCH64 of the System V ABI. */
const ELF = { x64: 62, arm64: 183 };

/** `cputype` of Mach-O: CPU_TYPE_X86_64 and CPU_TYPE_ARM64 of `mach/machine.h`. */
const MACH_O = { x64: 0x01000007, arm64: 0x0100000c };

/** `Machine` of PE: IMAGE_FILE_MACHINE_AMD64. */
const PE = { x64: 0x8664 };

/** All platforms, the order of the release. */
export const TARGETS: readonly Target[] = [
  unix("linux-x64", "x86_64-unknown-linux-gnu", "linux-x86_64", "ELF", ELF.x64),
  unix("linux-arm64", "aarch64-unknown-linux-gnu", "linux-aarch64", "ELF", ELF.arm64),
  unix("macos-x64", "x86_64-apple-darwin", "darwin-x86_64", "Mach-O", MACH_O.x64),
  unix("macos-arm64", "aarch64-apple-darwin", "darwin-aarch64", "Mach-O", MACH_O.arm64),
  {
    name: "windows-x64",
    deno: "x86_64-pc-windows-msvc",
    acp: "windows-x86_64",
    format: "PE",
    machine: PE.x64,
    file: "mm-windows-x64.exe",
    executable: "mm.exe",
  },
];

function unix(
  name: string,
  deno: string,
  acp: string,
  format: ExecutableFormat,
  machine: number,
): Target {
  return { name, deno, acp, format, machine, file: `mm-${name}.tar.gz`, executable: "mm" };
}
