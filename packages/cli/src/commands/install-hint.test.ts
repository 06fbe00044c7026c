import assert from 'node:assert/strict';
import { test } from 'node:test';
import { installHint } from './install-hint.ts';

test('the install hint is the command of the distribution', () => {
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
