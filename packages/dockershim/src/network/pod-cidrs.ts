import { isIP } from 'node:net';
import { PodwrightError } from '@podwright/base';

/** Parses the node's pod CIDRs: one or, separated by a comma, one per address family. Throws `invalid_argument`. */
export function parsePodCidrs(text: string): string[] {
  const cidrs = text.split(',').map((part) => part.trim());
  const bad = cidrs.find((cidr) => !isCidr(cidr));
  if (bad === undefined && cidrs.length <= 2) return cidrs;
  const message = `pod CIDR ${JSON.stringify(text)}: it must be a subnet such as 10.88.0.0/16, or two of them, IPv4 and IPv6`;
  throw new PodwrightError('invalid_argument', message);
}

function isCidr(text: string): boolean {
  const match = /^([0-9a-fA-F.:]+)\/(\d{1,3})$/.exec(text);
  const family = isIP(match?.[1] ?? '');
  return family !== 0 && Number(match?.[2]) <= (family === 4 ? 32 : 128);
}
