import { type IpAddress, parseIp } from '../addresses.ts';
import { type FieldError, invalidValue } from '../field-error.ts';

const LINK_LOCAL = 'may not be in the link-local range (169.254.0.0/16, fe80::/10)';
const LINK_LOCAL_MULTICAST = 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)';

/** Validates an IP address used as a traffic destination (ValidateEndpointIP). */
export function validateEndpointIp(field: string, value: string): FieldError[] {
  const ip = parseIp(value);
  if (ip === undefined) return [invalidValue(field, value, 'must be a valid IP address')];
  const details = [
    ...(ip.bits === 0n ? [`may not be unspecified (${value})`] : []),
    ...(isLoopback(ip) ? ['may not be in the loopback range (127.0.0.0/8, ::1/128)'] : []),
    ...(isLinkLocal(ip) ? [LINK_LOCAL] : []),
    ...(isLinkLocalMulticast(ip) ? [LINK_LOCAL_MULTICAST] : []),
  ];
  return details.map((detail) => invalidValue(field, value, detail));
}

const isIpv4 = ({ family }: IpAddress): boolean => family === 'IPv4';

const isLoopback = (ip: IpAddress): boolean => (isIpv4(ip) ? ip.bits >> 24n === 127n : ip.bits === 1n);

const isLinkLocal = (ip: IpAddress): boolean =>
  isIpv4(ip) ? ip.bits >> 16n === 0xa9fen : ip.bits >> 118n === 0xfe80n >> 6n;

/** Returns true for addresses in 224.0.0.0/24, or in ff02::/16 with any flags. */
const isLinkLocalMulticast = (ip: IpAddress): boolean =>
  isIpv4(ip) ? ip.bits >> 8n === 0xe00000n : ((ip.bits >> 112n) & 0xff0fn) === 0xff02n;
