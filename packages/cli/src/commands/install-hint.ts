import { readFileSync } from 'node:fs';

/** The install command of each family of distributions, by the ids in `os-release`. */
const COMMANDS: [string[], string][] = [
  [['debian', 'ubuntu'], 'apt-get install'],
  [['fedora', 'rhel', 'centos'], 'dnf install'],
  [['suse', 'opensuse'], 'zypper install'],
  [['arch'], 'pacman -S'],
  [['alpine'], 'apk add'],
];

/** The command that installs a package on this host, by its os-release(5). */
export function installHint(packageName: string, osRelease = readOsRelease()): string {
  const names = [...osRelease.matchAll(/^ID(?:_LIKE)?=(.*)$/gm)].flatMap(([, value]) =>
    value!.replaceAll(/['"]/g, '').split(/[\s-]/),
  );
  const command = COMMANDS.find(([families]) => families.some((family) => names.includes(family)))?.[1];
  return command === undefined
    ? `install the package ${packageName} of your distribution`
    : `${command} ${packageName}`;
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
