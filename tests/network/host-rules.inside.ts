import { type ChildProcess, execFileSync } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { basename } from 'node:path';
import { silentLogger } from '@podwright/base';
import { type NetlinkRequest, NetlinkSockets } from '@podwright/system';
import { HostRules } from '../../packages/runtime/src/network/bridge/host-rules.ts';
import { parseSubnets } from '../../packages/runtime/src/network/bridge/subnet.ts';
import type { RulesOutcome, RulesRun } from './host.fixture.ts';

// Run by `HostFixture` in the network namespace of the simulated host; prints a `RulesOutcome` as a line of JSON.
const run: RulesRun = JSON.parse(process.argv[2]!);

/** Netlink sockets that pass each batch of requests to a function before sending it. */
class WatchedSockets extends NetlinkSockets {
  readonly #look: (requests: readonly NetlinkRequest[]) => void;

  constructor(look: (requests: readonly NetlinkRequest[]) => void) {
    super();
    this.#look = look;
  }

  override open(...args: Parameters<NetlinkSockets['open']>) {
    const socket = super.open(...args);
    const request = socket.request.bind(socket);
    socket.request = async (requests) => {
      this.#look(requests);
      return await request(requests);
    };
    return socket;
  }
}

/** Simulates a kernel without nf_tables (netfilter subsystem 10). */
function refuseNftables(requests: readonly NetlinkRequest[]): void {
  if (requests.some(({ type }) => type >> 8 === 10)) throw new Error('this kernel has no nf_tables');
}

let left = run.killAt ?? 0;
function killMaybe(): void {
  left -= 1;
  if (left === 0) process.kill(process.pid, 'SIGKILL');
}

const sockets = new WatchedSockets(run.filter === 'iptables' ? refuseNftables : killMaybe);
const { bridge, stateDir } = run;
const rules = new HostRules({ bridge, subnets: parseSubnets(run.subnets), stateDir, logger: silentLogger, sockets });
const outcome: RulesOutcome = { results: [], programs: [] };
let isOurs = true;
subscribe('child_process', (message) => {
  const { process: child } = message as { process: ChildProcess };
  child.once('spawn', () => isOurs && outcome.programs.push(basename(child.spawnfile)));
});

function script(text: string): string {
  isOurs = false;
  const output = execFileSync('sh', ['-ec', text], { encoding: 'utf8' });
  isOurs = true;
  return output;
}

for (const step of run.steps) {
  const { results } = outcome;
  if (step.call === 'publish') results.push(await rules.publish(step.sandboxId, step.ports));
  else if (step.call === 'withdraw') results.push(await rules.withdraw(step.sandboxId));
  else if (step.call === 'setSubnets') results.push(rules.setSubnets(parseSubnets(step.subnets)));
  else if (step.call === 'run') results.push(script(step.script));
  else results.push(await rules[step.call]());
}
console.log(JSON.stringify(outcome));
