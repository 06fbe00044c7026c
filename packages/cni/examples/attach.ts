import { CniClient, loadNetworks } from '@podwright/cni';

const [
  netnsPath = '/var/run/netns/example',
  configurations = '/etc/cni/net.d',
  plugins = '/opt/cni/bin',
  cacheDirectory = '/var/lib/example-cni',
] = process.argv.slice(2);
const signal = AbortSignal.timeout(60_000);

const { networks, rejected } = await loadNetworks(configurations);
for (const { path, reason } of rejected) console.error(`${path}: ${reason}`);
const network = networks[0]?.list;
if (network === undefined) throw new Error(`there is no network in ${configurations}`);

const client = new CniClient({ directories: [plugins], cacheDirectory });
const attachment = { containerId: 'example', ifName: 'eth0', netnsPath, args: [], capabilityArgs: {} };

// If a plugin fails, DEL is run for the whole list before the promise rejects.
const { ips } = await client.add(network, attachment, signal);
console.log(`${network.name}: ${ips.map(({ address }) => address).join(', ')}`);

// The attachment is recorded in the cache directory, so that a different process could also remove it.
await client.del(attachment, network, signal);
console.log(`attachments: ${(await client.attachments()).length}`);
