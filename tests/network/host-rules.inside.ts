import { silentLogger } from '@podwright/base';
import { HostRules } from '../../packages/runtime/src/network/bridge/host-rules.ts';
import { parseSubnets } from '../../packages/runtime/src/network/bridge/subnet.ts';

// Run by host-rules.test.ts in a network namespace of its own: `ensure|remove BRIDGE SUBNETS`.
const [command, bridge = '', subnets = ''] = process.argv.slice(2);
const rules = new HostRules({ bridge, subnets: parseSubnets(subnets) }, silentLogger);
await (command === 'remove' ? rules.remove() : rules.ensure());
