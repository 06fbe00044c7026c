import { isIP, isIPv4, isIPv6 } from 'node:net';
import { counted, PodwrightError } from '@podwright/base';
import * as z from 'zod';
import { type JsonObject, parseJsonObject } from './json.ts';
import { isAtLeast, isVersion } from './versions.ts';

/** An address that a plugin assigned. `interfaceIndex` is an index into `interfaces`. */
export type ResultIp = { address: string; prefixLength: number; gateway?: string; interfaceIndex?: number };

/** The result of a plugin's ADD (spec section 5), normalized across all versions. */
export type CniResult = {
  cniVersion: string;
  /** The interfaces that the plugin created. `sandbox` is '' for an interface on the host. */
  interfaces: { name: string; mac: string; sandbox: string }[];
  ips: ResultIp[];
  routes: { dst: string; gw?: string }[];
  dns: { nameservers: string[]; domain: string; search: string[]; options: string[] };
  /** The plugin's output, unmodified, for `prevResult`. */
  raw: JsonObject;
};

// maximum length of a string in a plugin's result: far above any real one, but keeps a broken plugin from exhausting memory
const text = z.string().max(4096);
const optionalText = text.nullish().transform((value) => value ?? '');
const ip = text.refine((value) => isIP(value) !== 0 && !value.includes('%'), 'is not an IP address');
const cidr = text.refine(isCidr, 'is not an address with a prefix length');
const listOf = <T extends z.ZodType>(item: T, max: number) =>
  z
    .array(item)
    .max(max)
    .nullish()
    .transform((value) => value ?? []);

const dns = z
  .object({ nameservers: listOf(ip, 64), domain: optionalText, search: listOf(text, 64), options: listOf(text, 64) })
  .nullish()
  .transform((value) => value ?? { nameservers: [], domain: '', search: [], options: [] });

const gatewaySchema = z
  .union([ip, z.literal('')])
  .nullish()
  .transform((value) => (value ? value : undefined));
const routes = listOf(z.object({ dst: cidr, gw: gatewaySchema }), 4096);

/** The result format since 0.3.0. Before 1.0.0, an address also had a redundant `version`. */
const modernSchema = z.object({
  interfaces: listOf(z.object({ name: text.min(1), mac: optionalText, sandbox: optionalText }), 256),
  ips: listOf(z.object({ address: cidr, gateway: gatewaySchema, interface: z.int().nullish() }), 256),
  routes,
  dns,
});

const familySchema = z.object({ ip: cidr, gateway: gatewaySchema, routes }).nullish();
const legacySchema = z.object({ ip4: familySchema, ip6: familySchema, dns });

/**
 * Decodes the result of ADD. `requestedVersion` is the CNI version of the request, and is also assumed for a result without a version.
 * Throws if only one of the two versions is older than 0.3.0, because the next plugin could not read such a result.
 */
export function decodeResult(output: string, requestedVersion: string): CniResult {
  const raw = parseJsonObject(output, 'the result');
  const cniVersion = raw.cniVersion === undefined || raw.cniVersion === '' ? requestedVersion : raw.cniVersion;
  if (typeof cniVersion !== 'string' || !isVersion(cniVersion)) throw invalid("'cniVersion' is not a version");
  if (isAtLeast(cniVersion, '2.0.0'))
    throw invalid(`it is in version ${cniVersion}, requested was ${requestedVersion}`);
  const modern = isAtLeast(cniVersion, '0.3.0');
  if (modern !== isAtLeast(requestedVersion, '0.3.0'))
    throw invalid(`it is in version ${cniVersion}, requested was ${requestedVersion}`);
  const body = modern ? decodeModern(raw) : decodeLegacy(raw);
  return { ...body, cniVersion, raw: { ...raw, cniVersion } };
}

type Body = Omit<CniResult, 'cniVersion' | 'raw'>;

function decodeModern(raw: JsonObject): Body {
  const { interfaces, ips, ...rest } = parse(modernSchema, raw);
  return {
    ...rest,
    interfaces,
    ips: ips.map(({ address, gateway, interface: index }, position) => {
      if (typeof index === 'number' && (index < 0 || index >= interfaces.length))
        throw invalid(
          `ips.${position}.interface is ${index}, but the result has ${counted(interfaces.length, 'interface')}`,
        );
      return { ...splitCidr(address), gateway, interfaceIndex: index ?? undefined };
    }),
  };
}

function decodeLegacy(raw: JsonObject): Body {
  const { ip4, ip6, dns } = parse(legacySchema, raw);
  if (ip4 && !isIPv4(splitCidr(ip4.ip).address)) throw invalid('ip4.ip is not an IPv4 address');
  if (ip6 && !isIPv6(splitCidr(ip6.ip).address)) throw invalid('ip6.ip is not an IPv6 address');
  const families = [ip4, ip6].filter((family) => family !== null && family !== undefined);
  return {
    interfaces: [],
    ips: families.map(({ ip, gateway }) => ({ ...splitCidr(ip), gateway })),
    routes: families.flatMap((family) => family.routes),
    dns,
  };
}

function parse<T>(schema: z.ZodType<T>, raw: JsonObject): T {
  const parsed = schema.safeParse(raw);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw invalid(`${issue?.path.join('.')}: ${issue?.message}`);
}

function isCidr(value: string): boolean {
  const { address, prefixLength } = splitCidr(value);
  if (value.includes('%')) return false; // a zone is only valid on the host that wrote it
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  return /\/\d{1,3}$/.test(value) && prefixLength <= bits;
}

function splitCidr(value: string): { address: string; prefixLength: number } {
  const slash = value.lastIndexOf('/');
  return { address: value.slice(0, slash), prefixLength: Number(value.slice(slash + 1)) };
}

const invalid = (reason: string): PodwrightError =>
  new PodwrightError('internal', `the plugin's result cannot be used: ${reason}`);
