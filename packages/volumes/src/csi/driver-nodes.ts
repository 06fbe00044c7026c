/** Publishes the node's CSI drivers to the API server: in an annotation and labels of the Node, and in the CSINode. */
import { PodwrightError } from '@podwright/base';
import type { CsiNode, CsiNodeDriver, KubeObject } from '@podwright/kube-api';
import { apiMessage, CSI_NODES, type KubeClient, NODES } from '@podwright/kube-client';
import type { DriverNodeInfo, DriverNodes } from './csi-drivers.ts';

const NODE_IDS = 'csi.volume.kubernetes.io/nodeid';

type Client = Pick<KubeClient, 'get' | 'update' | 'patch'>;

/** Publishes drivers to the API server. Rejects with upstream's messages; the caller retries failed registrations. */
export function clusterDriverNodes(client: Client, nodeName: string): DriverNodes {
  // updates run one at a time, because all drivers share the Node and the CSINode
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = (work: () => Promise<void>) => {
    const turn = last.then(work);
    last = turn.catch(() => undefined);
    return turn;
  };
  return {
    install: (driver, info) =>
      inTurn(async () => {
        if (info.nodeId === '') throw failed('error adding CSI driver node info', 'driverNodeID must not be empty');
        await patchNode(client, nodeName, (node) => nodeWith(node, driver, info)).catch((error: unknown) => {
          throw failed('error updating Node object with CSI driver node info', error);
        });
        await updateCsiNode(client, nodeName, (drivers) => driversWith(drivers, driver, info)).catch(
          (error: unknown) => {
            throw failed('error updating CSINode object with CSI driver node info', error);
          },
        );
      }),
    uninstall: (driver) =>
      inTurn(async () => {
        const without = (drivers: CsiNodeDriver[]) => drivers.filter(({ name }) => name !== driver);
        await updateCsiNode(client, nodeName, without).catch((error: unknown) => {
          throw failed('error uninstalling CSI driver from CSINode object', error);
        });
        await patchNode(client, nodeName, (node) => nodeWithout(node, driver));
      }),
  };
}

/** A change to the metadata of a Node; `null` removes a key. */
type MetadataChange = { annotations?: Record<string, string | null>; labels?: Record<string, string> };

async function patchNode(
  client: Client,
  name: string,
  change: (node: KubeObject) => MetadataChange | undefined,
): Promise<void> {
  const metadata = change(await client.get(NODES, { name }));
  if (metadata === undefined) return;
  await client.patch(NODES, { name }, { type: 'strategic', body: { metadata }, subresource: 'status' });
}

/**
 * Returns the change that adds the driver to the Node; `undefined` if there is nothing to change. Throws if a label already has a different
 * value, meaning that drivers disagree on the node's topology. Pure.
 */
export function nodeWith(
  node: KubeObject,
  driver: string,
  { nodeId, topology }: DriverNodeInfo,
): MetadataChange | undefined {
  const labels = node.metadata.labels ?? {};
  for (const [key, value] of Object.entries(topology)) {
    const known = labels[key];
    if (known !== undefined && known !== value)
      throw failed(
        'detected topology value collision',
        `driver reported "${key}":"${value}" but existing label is "${key}":"${known}"`,
      );
  }
  const ids = nodeIdsOf(node);
  const missing = Object.fromEntries(Object.entries(topology).filter(([key]) => labels[key] === undefined));
  if (ids[driver] === nodeId && Object.keys(missing).length === 0) return undefined;
  return { annotations: { [NODE_IDS]: JSON.stringify(sorted({ ...ids, [driver]: nodeId })) }, labels: missing };
}

/** Returns the change that removes the driver from the Node; `undefined` if it is not listed there. Pure. */
export function nodeWithout(node: KubeObject, driver: string): MetadataChange | undefined {
  const { [driver]: removed, ...others } = nodeIdsOf(node);
  if (removed === undefined) return undefined;
  const isLast = Object.keys(others).length === 0;
  return { annotations: { [NODE_IDS]: isLast ? null : JSON.stringify(others) } };
}

function nodeIdsOf({ metadata }: KubeObject): Record<string, string> {
  const text = metadata.annotations?.[NODE_IDS] ?? '';
  if (text === '') return {};
  try {
    const ids: unknown = JSON.parse(text);
    if (typeof ids === 'object' && ids !== null) return ids as Record<string, string>;
  } catch {
    // the annotation is not valid JSON: throw below
  }
  throw failed(
    `failed to parse node's "${NODE_IDS}" annotation value`,
    `"${text.slice(0, 200)}" is not a map of names`,
  );
}

async function updateCsiNode(
  client: Client,
  name: string,
  change: (drivers: CsiNodeDriver[]) => CsiNodeDriver[],
): Promise<void> {
  const known = await client.get<CsiNode>(CSI_NODES, { name });
  const before = known.spec.drivers ?? [];
  const drivers = change(before);
  if (JSON.stringify(drivers) === JSON.stringify(before)) return;
  const changed: CsiNode = { ...known, spec: { ...known.spec, drivers } };
  await client.update(CSI_NODES, changed);
}

/** Adds a driver to the list of a CSINode. An unchanged driver keeps its position; a new or changed one goes last. Pure. */
export function driversWith(drivers: CsiNodeDriver[], name: string, info: DriverNodeInfo): CsiNodeDriver[] {
  const { nodeId: nodeID, maxVolumes: count, topology } = info;
  const driver = {
    name,
    nodeID,
    topologyKeys: Object.keys(topology).sort(),
    ...(count > 0 ? { allocatable: { count } } : {}),
  };
  const known = drivers.find((one) => one.name === name);
  const isSame =
    known !== undefined &&
    known.nodeID === nodeID &&
    known.allocatable?.count === driver.allocatable?.count &&
    [...(known.topologyKeys ?? [])].sort().join() === driver.topologyKeys.join();
  return isSame ? drivers : [...drivers.filter((one) => one.name !== name), driver];
}

function sorted(map: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function failed(what: string, why: unknown): PodwrightError {
  return new PodwrightError('failed_precondition', `${what}: ${apiMessage(why)}`);
}
