/** A challenge in a `WWW-Authenticate` header (RFC 9110, section 11.6.1). The scheme and the parameter names are lowercased. */
export type AuthChallenge = { scheme: string; parameters: Record<string, string> };

const tokenPattern = /[A-Za-z0-9!#$%&'*+.^_`|~-]+/y;
const parameterPattern = /([A-Za-z0-9!#$%&'*+.^_`|~-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*))/y;
const separatorPattern = /[\s,]*/y;

/** Parses the challenges in a `WWW-Authenticate` header, in order, up to the first malformed part. */
export function parseChallenges(header: string): AuthChallenge[] {
  const challenges: AuthChallenge[] = [];
  let position = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = position;
    const match = pattern.exec(header);
    if (match !== null) position = pattern.lastIndex;
    return match;
  };
  while (position < header.length) {
    take(separatorPattern);
    const parameter = challenges.length > 0 ? take(parameterPattern) : null;
    if (parameter !== null) {
      const [, name = '', quoted, plain = ''] = parameter;
      challenges.at(-1)!.parameters[name.toLowerCase()] = quoted?.replace(/\\(.)/g, '$1') ?? plain;
      continue;
    }
    const scheme = take(tokenPattern);
    if (scheme === null) break;
    challenges.push({ scheme: scheme[0].toLowerCase(), parameters: {} });
  }
  return challenges;
}
