import { silentLogger } from '@podwright/base';
import { NetlinkSockets } from '@podwright/system';
import { HostRules } from '../../packages/runtime/src/network/bridge/host-rules.ts';
import { parseSubnets } from '../../packages/runtime/src/network/bridge/subnet.ts';
import type { RulesRun } from './host.fixture.ts';

// Run by a `HostFixture` in the network namespace that plays the host; one line of JSON tells what the calls gave.
const run: RulesRun = JSON.parse(process.argv[2]!);

/** As on a kernel without nf_tables. */
class NoNetfilter extends NetlinkSockets {
  override open(...args: Parameters<NetlinkSockets['open']>) {
    if (args[0] === 'netfilter') throw new Error('this kernel has no nf_tables');
    return super.open(...args);
  }
}

/** The process is killed when the kernel is to be asked for the nth time. */
class Killing extends NetlinkSockets {
  #left = run.killAt ?? 0;

  override open(...args: Parameters<NetlinkSockets['open']>) {
    this.#left -= 1;
    if (this.#left === 0) process.kill(process.pid, 'SIGKILL');
    return super.open(...args);
  }
}

const sockets =
  run.killAt !== undefined ? new Killing() : run.filter === 'iptables' ? new NoNetfilter() : new NetlinkSockets();
const { bridge, stateDir } = run;
const rules = new HostRules({ bridge, subnets: parseSubnets(run.subnets), stateDir, logger: silentLogger, sockets });
const results: unknown[] = [];
for (const step of run.steps) {
  if (step.call === 'publish') results.push(await rules.publish(step.sandboxId, step.ports));
  else if (step.call === 'withdraw') results.push(await rules.withdraw(step.sandboxId));
  else if (step.call === 'setSubnets') results.push(rules.setSubnets(parseSubnets(step.subnets)));
  else if (step.call === 'run') {
    const { execFileSync } = await import('node:child_process');
    results.push(execFileSync('sh', ['-c', step.script], { encoding: 'utf8' }));
  } else results.push(await rules[step.call]());
}
console.log(JSON.stringify(results));
