import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requireOfHost } from './host-requirements.ts';

const HEADINGS = 'Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n';
const GOOD: Record<string, string> = {
  '/proc/swaps': HEADINGS,
  '/proc/sys/vm/overcommit_memory': '1\n',
  '/proc/sys/vm/panic_on_oom': '0\n',
  '/proc/sys/kernel/panic': '10\n',
  '/proc/sys/kernel/panic_on_oops': '1\n',
  '/proc/sys/kernel/keys/root_maxkeys': '1000000\n',
  '/proc/sys/kernel/keys/root_maxbytes': '25000000\n',
};
const BOTH = { noSwap: true, kernelDefaults: true };

test('a host that meets the requirements passes, and disabled checks read nothing', async () => {
  await requireOfHost(BOTH, async (path) => GOOD[path]);
  await requireOfHost({ noSwap: true, kernelDefaults: false }, async () => undefined);
  await requireOfHost({ noSwap: false, kernelDefaults: false }, () => assert.fail());
});

test('the error names swap and wrong kernel settings', async () => {
  const bad: Record<string, string> = {
    ...GOOD,
    '/proc/swaps': `${HEADINGS}/dev/sda2 partition 1 0 -2\n`,
    '/proc/sys/kernel/panic': '0\n',
  };
  await assert.rejects(
    requireOfHost(BOTH, async (path) => bad[path]),
    {
      code: 'failed_precondition',
      message:
        'start the kubelet: running with swap on is not supported, please disable swap or set failSwapOn (--fail-swap-on) to false; there is /dev/sda2; invalid kernel flag: kernel/panic, expected value: 10, actual value: 0',
    },
  );
});
