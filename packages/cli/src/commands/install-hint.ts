import { readFileSync } from 'node:fs';

/** A program that pods need and that is available as a package. */
export type HostProgram = 'crun' | 'runc' | 'conmon' | 'catatonit' | 'iptables' | 'cni-plugins';

/** How to install packages on a family of Linux distributions. */
export type PackageManager = {
  /** The `ID` values in os-release. */
  families: string[];
  /** `command` is shown to users. `commands` returns its non-interactive form, preceded by any commands that must be run first. */
  command: string;
  commands: (packages: string[]) => string[][];
  /** Package names that differ from the program's name. */
  names?: Partial<Record<HostProgram, string>>;
};

/** Makes apt-get wait up to 120 s for its lock, which unattended upgrades hold on a newly installed host. */
const APT_WAITS = ['-o', 'DPkg::Lock::Timeout=120'];

const PACKAGE_MANAGERS: PackageManager[] = [
  {
    families: ['debian', 'ubuntu'],
    command: 'apt-get install',
    commands: (packages) => [
      ['apt-get', 'update', ...APT_WAITS],
      ['apt-get', 'install', '-y', '--no-install-recommends', ...APT_WAITS, ...packages],
    ],
    names: { 'cni-plugins': 'containernetworking-plugins' },
  },
  {
    families: ['fedora', 'rhel', 'centos'],
    command: 'dnf install',
    commands: (packages) => [['dnf', 'install', '-y', ...packages]],
    names: { 'cni-plugins': 'containernetworking-plugins' },
  },
  {
    families: ['suse', 'opensuse'],
    command: 'zypper install',
    commands: (packages) => [['zypper', '--non-interactive', 'install', ...packages]],
  },
  {
    families: ['arch'],
    command: 'pacman -S',
    commands: (packages) => [['pacman', '-S', '--needed', '--noconfirm', ...packages]],
  },
  { families: ['alpine'], command: 'apk add', commands: (packages) => [['apk', 'add', '--update-cache', ...packages]] },
];

/** Returns this host's package manager according to os-release(5), or `undefined` if the distribution is unknown. */
export function packageManager(osRelease = readOsRelease()): PackageManager | undefined {
  const names = [...osRelease.matchAll(/^ID(?:_LIKE)?=(.*)$/gm)].flatMap(([, value]) =>
    value!.replaceAll(/['"]/g, '').split(/[\s-]/),
  );
  return PACKAGE_MANAGERS.find(({ families }) => families.some((family) => names.includes(family)));
}

/** Returns the command that installs a program's package on this host. */
export function installHint(program: HostProgram, osRelease = readOsRelease()): string {
  const manager = packageManager(osRelease);
  return manager === undefined
    ? `install the package ${program} of your distribution`
    : `${manager.command} ${manager.names?.[program] ?? program}`;
}

/** Returns the commands that install the packages of these programs, in execution order. */
export function installCommands({ commands, names }: PackageManager, programs: HostProgram[]): string[][] {
  return commands([...new Set(programs)].map((program) => names?.[program] ?? program));
}

function readOsRelease(): string {
  for (const path of ['/etc/os-release', '/usr/lib/os-release']) {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      // this os-release file does not exist; try the other path
    }
  }
  return '';
}
