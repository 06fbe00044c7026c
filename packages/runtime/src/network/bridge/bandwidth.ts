import { addLink, changeLink, limitRate, redirectIncoming } from '@podwright/system';
import type { NetworkRequest } from '../network.ts';
import { type HostLinks, vanished } from './host-links.ts';
import { hostLinkName, linkAlias, shaperLinkName } from './link-names.ts';

/** Burst size, as the time it takes to send a burst at the configured rate. Bursts are never smaller than the kernel's largest packet. */
const BURST_SECONDS = 0.1;
const MIN_BURST_BYTES = 128 << 10;
/** Maximum queueing delay of a packet, as in the CNI plugin `bandwidth`. */
const LATENCY_SECONDS = 0.025;
const MAX_BYTES = 2 ** 31 - 1;

/**
 * Limits a pod's ingress at the host end of its veth pair, and its egress at an ifb device to which its packets are redirected. Idempotent:
 * may be called again after any failure.
 */
export async function limitBandwidth(
  links: HostLinks,
  limits: { bridge: string; sandboxId: string; bandwidth: NonNullable<NetworkRequest['bandwidth']> },
): Promise<void> {
  const { bridge, sandboxId, bandwidth } = limits;
  const [name, shaper] = [hostLinkName(bridge, sandboxId), shaperLinkName(bridge, sandboxId)] as const;
  const { ingressRate, egressRate } = bandwidth;
  if (egressRate !== undefined)
    await links.request([
      { ...addLink({ name: shaper, kind: 'ifb' }), ignore: ['EEXIST'] },
      changeLink(shaper, { up: true, alias: linkAlias(bridge, sandboxId) }),
    ]);
  const [link, shaping] = await links.find(name, shaper);
  if (link === undefined) throw vanished(`link ${name}`);
  if (ingressRate !== undefined) await links.request([limitRate({ linkIndex: link.index, ...bucket(ingressRate) })]);
  if (egressRate === undefined || shaping === undefined) return;
  const limit = limitRate({ linkIndex: shaping.index, ...bucket(egressRate) });
  await links.request([limit, ...redirectIncoming(link.index, shaping.index)]);
}

/** Returns the token bucket parameters (tc-tbf(8)) for a rate in bits per second. */
function bucket(rate: number): { bytesPerSecond: number; burstBytes: number; queueBytes: number } {
  const bytesPerSecond = Math.ceil(rate / 8);
  const burstBytes = Math.min(MAX_BYTES, Math.max(MIN_BURST_BYTES, Math.ceil(bytesPerSecond * BURST_SECONDS)));
  const queueBytes = Math.min(MAX_BYTES, burstBytes + Math.ceil(bytesPerSecond * LATENCY_SECONDS));
  return { bytesPerSecond, burstBytes, queueBytes };
}
