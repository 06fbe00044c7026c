/** Finds NUMA nodes with enough memory. Pure; makes the same decisions as upstream's memory manager. */
import { PodwrightError } from '@podwright/base';
import { countNodes, isNarrower, masksOf, type NodeMask, nodesOf } from '../topology/node-mask.ts';
import type { TopologyHint } from '../topology/topology-hint.ts';
import { crossesGroups, type MachineState, type MemoryRequest, sumOn } from './memory-machine.ts';

export type MemoryHintInput = {
  machine: MachineState;
  request: MemoryRequest;
  /** Returns the number of bytes that the pod's init containers hold on exactly these NUMA nodes and that can be reused. */
  reusable: (nodes: NodeMask, type: string) => bigint;
};

/** Returns hints for the sets of NUMA nodes that have enough of every requested resource. All the requested resources share these hints. */
export function memoryHints({ machine, request, reusable }: MemoryHintInput): TopologyHint[] {
  const nodes = Object.keys(machine)
    .map(Number)
    .sort((a, b) => a - b);
  const requested = Object.entries(request);
  const couldHave = (mask: NodeMask) =>
    requested.every(([type, size]) => sumOn(machine, mask, { type, of: 'allocatable' }) >= size);
  const masks = masksOf(nodes).filter(couldHave);
  const least = masks.length === 0 ? nodes.length : countNodes(masks[0]!);
  return masks
    .filter((mask) => !isPartOfGroup(machine, mask) && !crossesGroups(machine, mask))
    .filter((mask) =>
      requested.every(([type, size]) => sumOn(machine, mask, { type, of: 'free' }) + reusable(mask, type) >= size),
    )
    .map((mask) => ({ nodes: mask, preferred: countNodes(mask) === least }));
}

/** Whether the mask is a single NUMA node that already belongs to an allocation spanning several NUMA nodes. */
function isPartOfGroup(machine: MachineState, mask: NodeMask): boolean {
  const [node, ...others] = nodesOf(mask);
  return others.length === 0 && machine[node!]!.cells.length > 1;
}

/** Returns the NUMA nodes that will provide a container's memory. Throws with upstream's message if there are none. */
export function chooseNodes(input: MemoryHintInput, hint: TopologyHint): NodeMask {
  const { machine, request } = input;
  let chosen = hint;
  if (chosen.nodes === undefined) {
    const best = bestHint(memoryHints(input));
    if (best === undefined)
      throw fail('failed to get the default NUMA affinity, no NUMA nodes with enough memory is available');
    if (!best.preferred && hint.preferred) throw fail('failed to find the default preferred hint');
    chosen = best;
  }
  const first = chosen.nodes!;
  const isEnough = Object.entries(request).every(([type, size]) => sumOn(machine, first, { type, of: 'free' }) >= size);
  if (!isEnough) {
    const wider = bestHint(memoryHints(input).filter(({ nodes }) => (nodes! & first) === first));
    if (wider === undefined) throw fail('failed to find NUMA nodes to extend the current topology hint');
    if (!wider.preferred && chosen.preferred) throw fail('failed to find the extended preferred hint');
    chosen = wider;
  }
  if (crossesGroups(machine, chosen.nodes!)) throw fail('preferred hint violates NUMA node allocation');
  return chosen.nodes!;
}

const fail = (why: string) => new PodwrightError('resource_exhausted', `[memorymanager] ${why}`);

function bestHint(hints: TopologyHint[]): TopologyHint | undefined {
  return hints.reduce<TopologyHint | undefined>((best, hint) => {
    if (best === undefined || (hint.preferred && !best.preferred)) return hint;
    return hint.preferred === best.preferred && isNarrower(hint.nodes!, best.nodes!) ? hint : best;
  }, undefined);
}
