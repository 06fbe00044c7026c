import { readFileSync } from 'node:fs';

/** A program that pods need and that distributions package. */
export type HostProgram = 'crun' | 'runc' | 'conmon' | 'catatonit' | 'iptables' | 'cni-plugins';

/** How a family of distributions installs packages. */
export type PackageManager = {
  /** The ids in `os-release`. */
  families: string[];
  /** `command` is shown to users. `commands` returns the same command without prompts, preceded by the commands that it requires. */
  command: string;
  commands: (packages: string[]) => string[][];
  /** The packages whose names differ from the program's. */
  names?: Partial<Record<HostProgram, string>>;
};

/** Makes apt-get wait up to 120 s for its lock, which unattended upgrades hold on a new host. */
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

/** This host's package manager according to os-release(5); `undefined` if the distribution is unknown. */
export function packageManager(osRelease = readOsRelease()): PackageManager | undefined {
  const names = [...osRelease.matchAll(/^ID(?:_LIKE)?=(.*)$/gm)].flatMap(([, value]) =>
    value!.replaceAll(/['"]/g, '').split(/[\s-]/),
  );
  return PACKAGE_MANAGERS.find(({ families }) => families.some((family) => names.includes(family)));
}

/** The command that installs the package of a program on this host. */
export function installHint(program: HostProgram, osRelease = readOsRelease()): string {
  const manager = packageManager(osRelease);
  return manager === undefined
    ? `install the package ${program} of your distribution`
    : `${manager.command} ${manager.names?.[program] ?? program}`;
}

/** The commands, one after the other, that install the packages of these programs. */
export function installCommands({ commands, names }: PackageManager, programs: HostProgram[]): string[][] {
  return commands([...new Set(programs)].map((program) => names?.[program] ?? program));
}

function readOsRelease(): string {
  for (const path of ['/etc/os-release', '/usr/lib/os-release']) {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      // try the other path
    }
  }
  return '';
}
