/** The scripts of the Debian and RPM packages, in a guest with a fake `systemctl`. */
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { debian, Guest } from './guest.fixture.ts';

const SCRIPTS = join(import.meta.dirname, '../../scripts/release/files/debian');
/** Fake systemctl that fails, as it does for a masked unit, and records its calls. */
const SYSTEMCTL = '#!/bin/sh\necho "$*" >> /tmp/calls\nexit 1\n';

const share = mkdtempSync(join(tmpdir(), 'podwright-scripts-'));
let root: string;
before(async () => {
  root = await debian('bookworm');
  cpSync(SCRIPTS, share, { recursive: true });
});
after(() => rmSync(share, { recursive: true }));

async function start(t: TestContext): Promise<Guest> {
  const guest = await Guest.start({ root, share });
  t.after(() => guest.stop());
  guest.ok('mkdir -p /run/systemd/system');
  return guest;
}

test('a failing systemctl is reported, but fails neither installation, upgrade nor removal', async (t) => {
  const guest = await start(t);
  guest.ok(`printf '%s' '${SYSTEMCTL}' > /usr/bin/systemctl && chmod 755 /usr/bin/systemctl`);
  for (const call of ['postinst configure', 'postinst 1', 'prerm upgrade', 'prerm 1']) guest.ok(`sh /mnt/${call}`);
  guest.ok('! grep -q podwright.service /tmp/calls');
  for (const call of ['postinst configure 0.1.0', 'postinst 2'])
    assert.match(guest.ok(`sh /mnt/${call} 2>&1`), /the service was not restarted: see 'systemctl status podwright'/);
  for (const call of ['prerm remove', 'prerm 0'])
    assert.match(guest.ok(`sh /mnt/${call} 2>&1`), /the service was not stopped: see 'systemctl status podwright'/);
});

test('a systemd directory without systemctl is sufficient', async (t) => {
  const guest = await start(t);
  for (const call of ['postinst configure 0.1.0', 'prerm remove', 'postrm remove', 'postrm purge'])
    guest.ok(`sh /mnt/${call}`);
});

test('policy-rc.d(8) prevents the restart', async (t) => {
  const guest = await start(t);
  guest.ok(`printf '%s' '${SYSTEMCTL.replace('exit 1', 'exit 0')}' > /usr/bin/systemctl && chmod 755 /usr/bin/systemctl
    sh /mnt/postinst configure 0.1.0 && grep -q 'try-restart podwright.service' /tmp/calls && rm /tmp/calls
    printf '#!/bin/sh\\nexit 101\\n' > /usr/sbin/policy-rc.d && chmod 755 /usr/sbin/policy-rc.d
    sh /mnt/postinst configure 0.1.0 && ! grep try-restart /tmp/calls`);
});

test('a package is not removed while containers run without a node, ignoring processes of other users', async (t) => {
  const guest = await start(t);
  const monitor = (
    how: string,
  ) => `cd /tmp && { ${how} ./conmon monitor --bundle /run/other/oci/bundles/abc > /dev/null 2>&1 & }
    for try in $(seq 50); do grep -qs '^./conmon' /proc/[0-9]*/cmdline && exit; sleep 0.1; done; exit 1`;
  guest.ok("cp /usr/bin/perl /tmp/conmon && chmod 755 /tmp/conmon && echo 'sleep 1000' > /tmp/monitor");
  guest.ok(monitor('setpriv --reuid 65534 --clear-groups'));
  guest.ok('sh /mnt/prerm remove');
  guest.ok(`kill $(grep -ls '^./conmon' /proc/[0-9]*/cmdline | cut -d/ -f3)`);
  guest.ok(monitor(''));
  for (const call of ['prerm remove', 'prerm 0'])
    guest.fails(
      `sh /mnt/${call}`,
      /containers run, and only a node can stop them \(their monitors are the processes \d+\)/,
    );
  guest.ok('sh /mnt/prerm upgrade && sh /mnt/prerm 1');
});
