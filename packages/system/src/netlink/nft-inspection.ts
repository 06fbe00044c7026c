import { hasErrno } from '../errno.ts';
import { type Attribute, decodeAttributes, listAttributes, text } from './message.ts';
import { type NetlinkSocket, requestFlags } from './netlink-socket.ts';
import { nfnetlinkHeader, nfnetlinkType, nfProtocols } from './nfnetlink.ts';
import type { NftVerdict } from './nft-encoding.ts';

/** Summary of a chain in another application's table, as far as it can be determined without decoding every expression. */
export type NftChainSummary = { drops: boolean; rules: { jumpsTo?: string }[] };

/** A base chain on the forward hook. `drops`: whether its policy is `drop`. */
export type NftForwardFilter = {
  family: NftFamily;
  table: string;
  name: string;
  drops: boolean;
};

/** A set or map element as stored by the kernel. `remainingMs`: time until it expires; unset if it is permanent. */
export type NftStoredElement = { key: Buffer; data?: Buffer | NftVerdict; remainingMs?: number };

export type NftFamily = 'inet' | 'ip' | 'ip6';

// enum nf_tables_msg_types, nft_chain_attributes, nft_rule_attributes and nft_hook_attributes (linux/netfilter/nf_tables.h).
const NFT_MSG_GETCHAIN = 4;
const NFT_MSG_GETRULE = 7;
const NFT_MSG_GETSETELEM = 13;
const NFTA_CHAIN_TABLE = 1;
const NFTA_CHAIN_NAME = 3;
const NFTA_CHAIN_HOOK = 4;
const NFTA_CHAIN_POLICY = 5;
const NFTA_RULE_TABLE = 1;
const NFTA_RULE_CHAIN = 2;
const NFTA_RULE_EXPRESSIONS = 4;
const NFTA_HOOK_HOOKNUM = 1;
const NFTA_SET_ELEM_LIST_ELEMENTS = 3;
const NFTA_SET_ELEM_KEY = 1;
const NFTA_SET_ELEM_DATA = 2;
const NFTA_SET_ELEM_EXPIRATION = 5;
/** The verdict code NFT_GOTO (linux/netfilter/nf_tables.h). */
const GOTO = -4;
/** NF_INET_FORWARD, and the chain policy NF_DROP (linux/netfilter.h). */
const HOOK_FORWARD = 2;
const POLICY_DROP = 0;

/** Reads a chain; `undefined` if it does not exist. */
export async function readChain(
  socket: NetlinkSocket,
  { family, table, name }: { family: NftFamily; table: string; name: string },
): Promise<NftChainSummary | undefined> {
  const body = nfnetlinkHeader(nfProtocols[family]);
  const what = `read the chain ${name} of the table ${family} ${table}`;
  const type = nfnetlinkType('nftables', NFT_MSG_GETCHAIN);
  const attributes: Attribute[] = [
    [NFTA_CHAIN_TABLE, text(table)],
    [NFTA_CHAIN_NAME, text(name)],
  ];
  const [found] = await socket.request([{ what, type, body, attributes, ignore: ['ENOENT'] }]);
  if (found![0] === undefined) return undefined;
  const rules = await readRules(socket, { family, table, chain: name });
  return {
    drops: dropsByPolicy(attributesOf(found![0].body)),
    rules: rules.map((rule) => ({ jumpsTo: jumpTarget(rule) })),
  };
}

/** Counts the rules in each non-empty chain of an `inet` table. The result is empty if the table does not exist. */
export async function countRules(socket: NetlinkSocket, table: string): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const { chain } of await readTableRules(socket, { family: 'inet', table }))
    counts.set(chain, (counts.get(chain) ?? 0) + 1);
  return counts;
}

/** Reads the elements of a set or map in an `inet` table; `undefined` if it does not exist. */
export async function readElements(
  socket: NetlinkSocket,
  { table, set }: { table: string; set: string },
): Promise<NftStoredElement[] | undefined> {
  const what = `list elements of the set ${set} of the table ${table}`;
  const type = nfnetlinkType('nftables', NFT_MSG_GETSETELEM);
  const attributes: Attribute[] = [
    [1, text(table)],
    [2, text(set)],
  ];
  const body = nfnetlinkHeader(nfProtocols.inet);
  const request = { what, type, flags: requestFlags.dump, body, attributes };
  const [answers] = await socket.request([request]).catch((error) => {
    if (hasErrno(error, 'ENOENT')) return [undefined];
    throw error;
  });
  return answers?.flatMap((answer) => {
    const elements = attributesOf(answer.body).get(NFTA_SET_ELEM_LIST_ELEMENTS) ?? Buffer.alloc(0);
    return listAttributes(elements).map(([, element]) => storedElement(decodeAttributes(element)));
  });
}

function storedElement(element: Map<number, Buffer>): NftStoredElement {
  const key = decodeAttributes(element.get(NFTA_SET_ELEM_KEY)!).get(1)!;
  const data = element.get(NFTA_SET_ELEM_DATA);
  const expiration = element.get(NFTA_SET_ELEM_EXPIRATION);
  return {
    key,
    ...(data === undefined ? {} : { data: storedData(decodeAttributes(data)) }),
    ...(expiration === undefined ? {} : { remainingMs: Number(expiration.readBigUInt64BE()) }),
  };
}

function storedData(data: Map<number, Buffer>): Buffer | NftVerdict {
  const value = data.get(1);
  if (value !== undefined) return value;
  const verdict = decodeAttributes(data.get(2)!);
  const chain = verdict.get(2);
  const code = verdict.get(1)!.readInt32BE();
  if (chain === undefined) return code === 0 ? 'drop' : 'accept';
  return code === GOTO ? { goto: nameOf(chain) } : { jump: nameOf(chain) };
}

/** Returns the chains of all tables on the forward hook. */
export async function readForwardFilters(socket: NetlinkSocket): Promise<NftForwardFilter[]> {
  const what = 'list chains at the forward hook';
  const type = nfnetlinkType('nftables', NFT_MSG_GETCHAIN);
  const body = nfnetlinkHeader(nfProtocols.unspecified);
  const [chains] = await socket.request([{ what, type, flags: requestFlags.dump, body }]);
  return chains!.flatMap(({ body }) => {
    const chain = attributesOf(body);
    const family = (['inet', 'ip', 'ip6'] as const).find((name) => nfProtocols[name] === body[0]);
    if (family === undefined || hookOf(chain) !== HOOK_FORWARD) return [];
    const [table, name] = [nameOf(chain.get(NFTA_CHAIN_TABLE)!), nameOf(chain.get(NFTA_CHAIN_NAME)!)];
    return [{ family, table, name, drops: dropsByPolicy(chain) }];
  });
}

/** Whether any rule of a table contains this interface name. */
export async function tableMentions(
  socket: NetlinkSocket,
  { family, table }: { family: NftFamily; table: string },
  interfaceName: string,
): Promise<boolean> {
  const rules = await readRules(socket, { family, table });
  return rules.some((rule) => rule.includes(text(interfaceName)));
}

/** Returns the encoded expressions of each rule in a table or a single chain; empty if it does not exist. */
async function readRules(
  socket: NetlinkSocket,
  place: { family: NftFamily; table: string; chain?: string },
): Promise<Buffer[]> {
  return (await readTableRules(socket, place)).map(({ expressions }) => expressions);
}

async function readTableRules(
  socket: NetlinkSocket,
  { family, table, chain }: { family: NftFamily; table: string; chain?: string },
): Promise<{ chain: string; expressions: Buffer }[]> {
  const what = `list rules of the table ${family} ${table}`;
  const attributes: Attribute[] = [[NFTA_RULE_TABLE, text(table)]];
  if (chain !== undefined) attributes.push([NFTA_RULE_CHAIN, text(chain)]);
  const body = nfnetlinkHeader(nfProtocols[family]);
  const type = nfnetlinkType('nftables', NFT_MSG_GETRULE);
  const request = { what, type, flags: requestFlags.dump, body, attributes, ignore: ['ENOENT'] };
  const [rules] = await socket.request([request]);
  return rules!.map((answer) => {
    const rule = attributesOf(answer.body);
    const expressions = rule.get(NFTA_RULE_EXPRESSIONS) ?? Buffer.alloc(0);
    return { chain: nameOf(rule.get(NFTA_RULE_CHAIN)!), expressions };
  });
}

/** Returns the chain that a rule jumps to if its conditions match: the chain in the verdict of an `immediate` expression. */
function jumpTarget(expressions: Buffer): string | undefined {
  for (const [, bytes] of listAttributes(expressions)) {
    const expression = decodeAttributes(bytes);
    if (nameOf(expression.get(1)!) !== 'immediate') continue;
    const data = decodeAttributes(expression.get(2)!).get(2);
    const verdict = data && decodeAttributes(data).get(2);
    const chain = verdict && decodeAttributes(verdict).get(2);
    if (chain !== undefined) return nameOf(chain);
  }
  return undefined;
}

const dropsByPolicy = (chain: Map<number, Buffer>): boolean =>
  chain.get(NFTA_CHAIN_POLICY)?.readUInt32BE() === POLICY_DROP;

function hookOf(chain: Map<number, Buffer>): number | undefined {
  const hook = chain.get(NFTA_CHAIN_HOOK);
  return hook && decodeAttributes(hook).get(NFTA_HOOK_HOOKNUM)?.readUInt32BE();
}

const nameOf = (value: Buffer): string => value.toString().replace(/\0.*$/, '');

/** Decodes the attributes following struct nfgenmsg. */
const attributesOf = (body: Buffer): Map<number, Buffer> => decodeAttributes(body.subarray(4));
