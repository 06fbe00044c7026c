import { badRequest } from '@podwright/api-machinery';

/** The user named in a request's impersonation headers. Empty fields are not impersonated. */
export type RequestedUser = {
  username: string;
  uid: string;
  groups: readonly string[];
  extra: ReadonlyMap<string, readonly string[]>;
};

const USER = 'impersonate-user';
const UID = 'impersonate-uid';
const GROUP = 'impersonate-group';
const EXTRA_PREFIX = 'impersonate-extra-';

/**
 * Returns the user the client wants to impersonate, or `undefined` if there is none. `rawHeaders` alternates names and values, as in
 * `node:http`, because joined header values cannot be split reliably. Throws a BadRequest error if the headers do not include a user name.
 */
export function requestedUser(rawHeaders: readonly string[]): RequestedUser | undefined {
  let [username, uid]: (string | undefined)[] = [];
  const groups: string[] = [];
  const extra = new Map<string, string[]>();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const [name, value] = [rawHeaders[index]!.toLowerCase(), rawHeaders[index + 1]!];
    if (name === USER) username ??= value;
    else if (name === UID) uid ??= value;
    else if (name === GROUP) groups.push(value);
    else if (name.startsWith(EXTRA_PREFIX)) {
      const key = unescaped(name.slice(EXTRA_PREFIX.length));
      extra.set(key, [...(extra.get(key) ?? []), value]);
    }
  }
  const user = { username: username ?? '', uid: uid ?? '', groups, extra };
  if (user.username !== '') return user;
  if (user.uid === '' && groups.length === 0 && extra.size === 0) return undefined;
  throw badRequest(`requested ${shown(user)} without impersonating a user name`);
}

/** Whether a header is an impersonation header, which must not be forwarded. `name` is lowercase. */
export const isImpersonationHeader = (name: string): boolean =>
  name === USER || name === UID || name === GROUP || name.startsWith(EXTRA_PREFIX);

/** Decodes percent-encoded bytes. Returns a malformed key unchanged. */
function unescaped(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

/** Formats the user like Go's `%#v`. */
function shown({ username, uid, groups, extra }: RequestedUser): string {
  const list = (texts: readonly string[]) => `[]string{${texts.map((text) => JSON.stringify(text)).join(', ')}}`;
  const entries = [...extra].sort(([a], [b]) => (a < b ? -1 : 1));
  const pairs = entries.map(([key, values]) => `${JSON.stringify(key)}:${list(values)}`).join(', ');
  const fields = [
    `Name:${JSON.stringify(username)}`,
    `UID:${JSON.stringify(uid)}`,
    `Groups:${groups.length === 0 ? '[]string(nil)' : list(groups)}`,
    `Extra:map[string][]string${extra.size === 0 ? '(nil)' : `{${pairs}}`}`,
  ];
  return `&user.DefaultInfo{${fields.join(', ')}}`;
}
