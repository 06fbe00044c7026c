import assert from 'node:assert/strict';
import { test } from 'node:test';
import { installCommands, installHint, packageManager } from './install-hint.ts';

test('the install hint matches the distribution', () => {
  const table: [string, string][] = [
    ['ID=debian\n', 'apt-get install conmon'],
    ['NAME="Linux Mint"\nID=linuxmint\nID_LIKE="ubuntu debian"\n', 'apt-get install conmon'],
    ['ID=fedora\n', 'dnf install conmon'],
    ['ID="rocky"\nID_LIKE="rhel centos fedora"\n', 'dnf install conmon'],
    ['ID="opensuse-tumbleweed"\nID_LIKE="opensuse suse"\n', 'zypper install conmon'],
    ['ID=arch\n', 'pacman -S conmon'],
    ['ID=alpine\n', 'apk add conmon'],
    ['VERSION_ID=debian\nID=other\n', 'install the package conmon of your distribution'],
    ['', 'install the package conmon of your distribution'],
  ];
  for (const [osRelease, expected] of table) assert.equal(installHint('conmon', osRelease), expected);
});

test('each program is installed once, under the distribution’s name, without prompts', () => {
  const table: [string, string[]][] = [
    [
      'ID=debian',
      [
        'apt-get update -o DPkg::Lock::Timeout=120',
        'apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=120 crun containernetworking-plugins',
      ],
    ],
    ['ID=fedora', ['dnf install -y crun containernetworking-plugins']],
    ['ID=opensuse-leap\nID_LIKE="suse opensuse"', ['zypper --non-interactive install crun cni-plugins']],
    ['ID=arch', ['pacman -S --needed --noconfirm crun cni-plugins']],
    ['ID=alpine', ['apk add --update-cache crun cni-plugins']],
  ];
  for (const [osRelease, expected] of table) {
    const commands = installCommands(packageManager(osRelease)!, ['crun', 'cni-plugins', 'crun']);
    assert.deepEqual(
      commands.map((words) => words.join(' ')),
      expected,
    );
  }
});
