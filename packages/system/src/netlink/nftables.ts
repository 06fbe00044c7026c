import { type Attribute, be32, be64, decodeAttributes, text, u8 } from './message.ts';
import { type NetlinkRequest, type NetlinkSocket, requestFlags } from './netlink-socket.ts';
import { nfnetlinkHeader, nfnetlinkSubsystems, nfnetlinkType, nfProtocols } from './nfnetlink.ts';
import { dataValue, dataVerdict, type NftExpression, type NftVerdict } from './nft-encoding.ts';

/** An nf_tables table of the `inet` family (IPv4 and IPv6), with all its contents. */
export type NftTable = { name: string; sets: NftSet[]; chains: NftChain[] };

/** A chain. Base chains have a hook. All others are jump targets, and must precede the chains that jump to them. */
export type NftChain = {
  name: string;
  hook?: { type: 'nat' | 'filter'; hook: keyof typeof HOOKS; priority: number };
  rules: NftRule[];
};

/** A rule. `comment` is displayed by nft(8). */
export type NftRule = { expressions: NftExpression[]; comment?: string };

/** A set or, if `data` is set, a map; for verdict maps, `data` is `verdict`. Other types only matter to nft(8), for display. */
export type NftSet = {
  name: string;
  key: NftType[];
  data?: NftType[] | 'verdict';
  /** The maximum number of elements of a dynamic set, whose elements are added by rules and expire; unset for all other sets. */
  dynamicSize?: number;
  elements: NftElement[];
};

export type NftType = keyof typeof TYPES;

/**
 * A set or map element. Each field of the key and data is padded to four bytes. The comment is displayed by nft(8). In dynamic sets, the
 * element is removed after `timeoutMs`.
 */
export type NftElement = { key: Buffer; data?: Buffer | NftVerdict; comment?: string; timeoutMs?: number };

/** Elements to add to, and to remove from, a set or map of a table. */
export type NftElementChange = { set: string; add: NftElement[]; remove: NftElement[] };

/** Changes to a table. Chains and sets to remove must no longer be in use. */
export type NftTableChange = {
  elements: NftElementChange[];
  addSets: NftSet[];
  addChains: NftChain[];
  removeChains: string[];
  removeSets: string[];
};

/** NFNL_MSG_BATCH_BEGIN and NFNL_MSG_BATCH_END (linux/netfilter/nfnetlink.h). */
const BATCH_BEGIN = 16;
const BATCH_END = 17;
/** enum nf_tables_msg_types. */
const MESSAGES = {
  newTable: 0,
  deleteTable: 2,
  newChain: 3,
  deleteChain: 5,
  newRule: 6,
  deleteRule: 8,
  newSet: 9,
  deleteSet: 11,
  newElements: 12,
  deleteElements: 14,
  getGeneration: 16,
} as const;
const CREATING: ReadonlySet<number> = new Set([
  MESSAGES.newTable,
  MESSAGES.newChain,
  MESSAGES.newRule,
  MESSAGES.newSet,
  MESSAGES.newElements,
]);
/** enum nf_inet_hooks (linux/netfilter.h). */
const HOOKS = { prerouting: 0, input: 1, forward: 2, output: 3, postrouting: 4 } as const;
/**
 * Type numbers used by nft(8), which takes six bits for each type of a concatenation, and the types' sizes in bytes, padded to full
 * registers.
 */
const TYPES = {
  ipv4_addr: { number: 7, bytes: 4 },
  ipv6_addr: { number: 8, bytes: 16 },
  inet_proto: { number: 12, bytes: 4 },
  inet_service: { number: 13, bytes: 4 },
  mark: { number: 19, bytes: 4 },
} as const;
const TYPE_BITS = 6;
/** enum nft_set_flags. */
const SET_FLAGS = { map: 8, timeout: 0x10, dynamic: 0x20 } as const;
/** NFT_DATA_VERDICT, the data type of verdict maps. */
const VERDICT_TYPE = 0xffffff00;
/** libnftnl's NFTNL_UDATA_RULE_COMMENT and NFTNL_UDATA_SET_ELEM_COMMENT. */
const COMMENT = 0;
/** NFT_USERDATA_MAXLEN (linux/netfilter/nf_tables.h) is 256 bytes, of which three are needed for the type, the length and the NUL. */
const MAX_COMMENT_BYTES = 253;
/** Number of elements per message, which keeps the list attribute under 64 KiB. */
const ELEMENTS_PER_MESSAGE = 256;

/** Returns the requests to replace a table and all its contents in one transaction: no packet ever sees a partial state. */
export function replaceTable(table: NftTable): NetlinkRequest[] {
  const { name, sets, chains } = table;
  return transaction([
    ...removal(name),
    command(`make the table ${name}`, MESSAGES.newTable, [[1, text(name)]]),
    ...chains.map((chain) => newChain(name, chain)),
    ...sets.map((set, index) => newSet(name, set, index + 1)),
    ...sets.flatMap((set) => elements('newElements', name, { set: set.name, elements: set.elements })),
    ...chains.flatMap((chain) => chain.rules.map((rule) => newRule(name, chain.name, rule))),
  ]);
}

/** Returns the requests to remove a table with all its contents. No error if the table does not exist. */
export const removeTable = (name: string): NetlinkRequest[] => transaction(removal(name));

/**
 * Returns the requests to change elements in one transaction. They fail with ENOENT if the table, the set, or an element to remove does not
 * exist.
 */
export function changeElements(table: string, changes: NftElementChange[]): NetlinkRequest[] {
  return changeTable(table, { elements: changes, addSets: [], addChains: [], removeChains: [], removeSets: [] });
}

/**
 * Returns the requests to change elements, chains and sets in one transaction. They fail like those of `changeElements`, and with EBUSY if
 * a chain or set to remove is still in use. Before Linux 6.2, the kernel briefly counts a removed element's verdict as a use.
 */
export function changeTable(table: string, change: NftTableChange): NetlinkRequest[] {
  const { elements: changes, addSets, addChains, removeChains, removeSets } = change;
  return transaction([
    ...addChains.map((chain) => newChain(table, chain)),
    ...addSets.map((set, index) => newSet(table, set, index + 1)),
    ...addSets.flatMap((set) => elements('newElements', table, { set: set.name, elements: set.elements })),
    ...changes.flatMap(({ set, remove }) => elements('deleteElements', table, { set, elements: remove })),
    ...changes.flatMap(({ set, add }) => elements('newElements', table, { set, elements: add })),
    ...addChains.flatMap((chain) => chain.rules.map((rule) => newRule(table, chain.name, rule))),
    ...removeChains.map((name) => deleteRules(table, name)), // first, because they may refer to each other
    ...removeChains.map((name) => deletion(table, 'chain', name)),
    ...removeSets.map((name) => deletion(table, 'set', name)),
  ]);
}

/** Returns the ruleset generation, which is incremented by every transaction of any process in this network namespace. */
export async function rulesetGeneration(socket: NetlinkSocket): Promise<number> {
  const type = nfnetlinkType('nftables', MESSAGES.getGeneration);
  const [answers] = await socket.request([
    { what: 'read the ruleset generation', type, body: nfnetlinkHeader(nfProtocols.unspecified) },
  ]);
  return decodeAttributes(answers![0]!.body.subarray(4)).get(1)!.readUInt32BE();
}

/** Wraps commands in a batch. Batches are applied atomically, so only the last command requests an acknowledgement. */
function transaction(commands: NetlinkRequest[]): NetlinkRequest[] {
  const last = commands.length - 1;
  const bound = nfnetlinkHeader(nfProtocols.unspecified, nfnetlinkSubsystems.nftables);
  const what = commands[last]!.what;
  return [
    { what, type: BATCH_BEGIN, silent: true, body: bound },
    ...commands.map((request, index) => ({ ...request, silent: index < last })),
    { what, type: BATCH_END, silent: true, body: bound },
  ];
}

/**
 * Returns the commands to remove a table. They add it first, because deleting a missing table fails while adding an existing one succeeds.
 */
const removal = (name: string): NetlinkRequest[] => [
  command(`make the table ${name}`, MESSAGES.newTable, [[1, text(name)]]),
  command(`remove the table ${name}`, MESSAGES.deleteTable, [[1, text(name)]]),
];

function newChain(table: string, { name, hook }: NftChain): NetlinkRequest {
  const attributes: Attribute[] = [
    [1, text(table)],
    [3, text(name)],
  ];
  if (hook !== undefined) {
    const place: Attribute[] = [
      [1, be32(HOOKS[hook.hook])],
      [2, be32(hook.priority >>> 0)],
    ];
    attributes.push([4, place], [7, text(hook.type)]);
  }
  return command(`make the chain ${name} of the table ${table}`, MESSAGES.newChain, attributes);
}

const deletion = (table: string, kind: 'chain' | 'set', name: string): NetlinkRequest =>
  command(
    `remove the ${kind} ${name} of the table ${table}`,
    MESSAGES[kind === 'chain' ? 'deleteChain' : 'deleteSet'],
    [
      [1, text(table)],
      [kind === 'chain' ? 3 : 2, text(name)],
    ],
  );

const deleteRules = (table: string, chain: string): NetlinkRequest =>
  command(`remove the rules of the chain ${chain} of the table ${table}`, MESSAGES.deleteRule, [
    [1, text(table)],
    [2, text(chain)],
  ]);

function newRule(table: string, chain: string, { expressions, comment }: NftRule): NetlinkRequest {
  const attributes: Attribute[] = [
    [1, text(table)],
    [2, text(chain)],
    [4, expressions],
  ];
  if (comment !== undefined) attributes.push([7, commentBytes(comment)]);
  return command(`add a rule to the chain ${chain} of the table ${table}`, MESSAGES.newRule, attributes);
}

/** Creates a set. `id` must be unique among the sets created in the transaction. */
function newSet(table: string, { name, key, data, dynamicSize }: NftSet, id: number): NetlinkRequest {
  const isMap = data === undefined ? 0 : SET_FLAGS.map;
  const isDynamic = dynamicSize === undefined ? 0 : SET_FLAGS.dynamic | SET_FLAGS.timeout;
  const attributes: Attribute[] = [
    [1, text(table)],
    [2, text(name)],
    [3, be32(isMap | isDynamic)],
    ...typeAttributes(4, key),
    ...(data === undefined ? [] : dataAttributes(data)),
    ...(dynamicSize === undefined ? [] : [[9, [[1, be32(dynamicSize)]]] as Attribute]),
    [10, be32(id)],
  ];
  return command(`make the set ${name} of the table ${table}`, MESSAGES.newSet, attributes);
}

const dataAttributes = (data: NftType[] | 'verdict'): Attribute[] =>
  data === 'verdict' ? [[6, be32(VERDICT_TYPE)]] : typeAttributes(6, data);

/** Returns the type and length attributes of a key or data, which have consecutive numbers. */
function typeAttributes(first: number, fields: NftType[]): Attribute[] {
  const type = fields.reduce((number, field) => (number << TYPE_BITS) | TYPES[field].number, 0);
  const bytes = fields.reduce((sum, field) => sum + TYPES[field].bytes, 0);
  return [
    [first, be32(type)],
    [first + 1, be32(bytes)],
  ];
}

function elements(
  kind: 'newElements' | 'deleteElements',
  table: string,
  change: { set: string; elements: NftElement[] },
): NetlinkRequest[] {
  const requests: NetlinkRequest[] = [];
  for (let at = 0; at < change.elements.length; at += ELEMENTS_PER_MESSAGE) {
    const part = change.elements.slice(at, at + ELEMENTS_PER_MESSAGE);
    const attributes: Attribute[] = [
      [1, text(table)],
      [2, text(change.set)],
      [3, part.map((element): Attribute => [1, kind === 'newElements' ? wholeElement(element) : keyOnly(element)])],
    ];
    const what = `${kind === 'newElements' ? 'add elements to' : 'remove elements from'} the set ${change.set} of the table ${table}`;
    requests.push(command(what, MESSAGES[kind], attributes));
  }
  return requests;
}

const keyOnly = ({ key }: NftElement): Attribute[] => [[1, dataValue(key)]];

function wholeElement(element: NftElement): Attribute[] {
  const { data, comment, timeoutMs } = element;
  const attributes = keyOnly(element);
  if (data !== undefined) attributes.push([2, Buffer.isBuffer(data) ? dataValue(data) : dataVerdict(data)]);
  if (timeoutMs !== undefined) attributes.push([4, be64(timeoutMs)]);
  if (comment !== undefined) attributes.push([6, commentBytes(comment)]);
  return attributes;
}

/**
 * Encodes user data in libnftnl's format: u8 type, u8 length, NUL-terminated text. Text that is too long is truncated; otherwise the kernel
 * would reject the whole transaction.
 */
function commentBytes(comment: string): Buffer {
  const bytes = text(
    Buffer.from(comment)
      .toString('utf8', 0, MAX_COMMENT_BYTES)
      .replace(/\ufffd+$/, ''),
  );
  return Buffer.concat([u8(COMMENT), u8(bytes.length), bytes]);
}

/** Encodes a command. Creating an existing object is not an error. Rules are always appended. */
const command = (what: string, message: number, attributes: Attribute[]): NetlinkRequest => ({
  what,
  type: nfnetlinkType('nftables', message),
  flags: CREATING.has(message) ? requestFlags.create | requestFlags.append : 0,
  body: nfnetlinkHeader(nfProtocols.inet),
  attributes,
});
