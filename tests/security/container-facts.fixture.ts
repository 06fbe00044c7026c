import { readFileSync, readlinkSync } from 'node:fs';
import { type NodePlace, podManifest } from '../pods/node.fixture.ts';

const script = readFileSync(new URL('container-facts.sh', import.meta.url), 'utf8');

/** Facts about a container's environment and permissions, by the names used in the script. */
export type Facts = Map<string, string>;

/** Runs a pod with default settings; returns the facts of its container and of a command executed in it. */
export async function factsOfDefaultPod(place: NodePlace): Promise<{ container: Facts; command: Facts }> {
  const manifest = podManifest('facts', `${script}\nexec sleep 1000`, '  restartPolicy: Never\n');
  await place.ok('run', '--detach', place.file('facts.yaml', manifest));
  let log = '';
  await place.until(async () => {
    log = await place.ok('logs', 'facts');
    return log.includes('end\tof facts');
  });
  const output = await place.ok('exec', 'facts', '--', 'sh', '-c', script);
  return { container: parseFacts(log, place), command: parseFacts(output, place) };
}

function parseFacts(text: string, place: NodePlace): Facts {
  const facts = text.split('\n').flatMap((line): [string, string][] => {
    const [key, value] = line.split('\t');
    return value === undefined ? [] : [[plain(key!, place), plain(value, place)]];
  });
  // several facts may share a name, for example writable files
  const merged = new Map<string, string>();
  for (const [key, value] of facts)
    merged.set(key, [merged.get(key), value].filter((one) => one !== undefined).join(' '));
  return merged;
}

/** Replaces values that differ from container to container: IDs, the names of the test's directories and cgroups, inode numbers. */
function plain(text: string, { scope }: NodePlace): string {
  return text
    .replace(/root=\/tmp\/pw[nk]-\S+/, "root=in the node's directories") // before the cgroup, which may have the same name
    .replaceAll(/\b(\w+):\[(\d+)\]/g, (whole, name: string) => (isMachines(name, whole) ? "the machine's" : 'its own'))
    .replaceAll(/\b[0-9a-f]{64}\b/g, 'ID')
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UID')
    .replaceAll(scope.cgroupParent, '/PARENT')
    .replace(/ overlay overlay .*$/, ' overlay overlay');
}

function isMachines(namespace: string, link: string): boolean {
  try {
    return readlinkSync(`/proc/self/ns/${namespace}`) === link;
  } catch {
    return false;
  }
}

/** Returns `KEY: theirs | ours` for each fact that differs; a missing one is shown as `none`. */
export function differences(theirs: Facts, ours: Facts): string[] {
  const keys = new Set([...theirs.keys(), ...ours.keys()]);
  return [...keys]
    .filter((key) => theirs.get(key) !== ours.get(key))
    .map((key) => `${key}: ${theirs.get(key) ?? 'none'} | ${ours.get(key) ?? 'none'}`);
}
