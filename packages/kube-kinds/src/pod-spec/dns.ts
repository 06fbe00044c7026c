/** Validates the DNS settings of pods (validatePodDNSConfig, ValidateHostAliases). */
import { validateLegacyIp } from '../address-rules.ts';
import type { Field } from '../field.ts';
import { dns1123SubdomainProblems, dns1123SubdomainWithUnderscoreProblems } from '../names.ts';
import { type JsonObject, objectAt, objectsAt, textAt, textsAt } from '../values.ts';

const MAX_NAMESERVERS = 3;
const MAX_SEARCHES = 32;
const MAX_SEARCH_CHARACTERS = 2048;

/** Validates a pod's DNS policy and config. `field` refers to `dnsConfig`. */
export function validateDns(spec: JsonObject, field: Field): void {
  const config = objectAt(spec, 'dnsConfig');
  const nameservers = textsAt(config, 'nameservers');
  if (textAt(spec, 'dnsPolicy') === 'None') {
    if (config === undefined) return field.required('must provide `dnsConfig` when `dnsPolicy` is None');
    if (nameservers.length === 0)
      return field.at('nameservers').required('must provide at least one DNS nameserver when `dnsPolicy` is None');
  }
  const at = field.at('nameservers');
  if (nameservers.length > MAX_NAMESERVERS)
    at.invalid(nameservers, `must not have more than ${MAX_NAMESERVERS} nameservers`);
  for (const [index, one] of nameservers.entries()) field.add(validateLegacyIp(at.at(index).path, one));
  validateSearches(textsAt(config, 'searches'), field.at('searches'));
  for (const [index, option] of objectsAt(config, 'options').entries())
    if (textAt(option, 'name') === '') field.at('options', index).required('must not be empty');
}

function validateSearches(searches: readonly string[], field: Field): void {
  if (searches.length > MAX_SEARCHES) field.invalid(searches, `must not have more than ${MAX_SEARCHES} search paths`);
  if (Buffer.byteLength(searches.join(' ')) > MAX_SEARCH_CHARACTERS)
    field.invalid(
      searches,
      `must not have more than ${MAX_SEARCH_CHARACTERS} characters (including spaces) in the search list`,
    );
  for (const [index, search] of searches.entries()) {
    if (search === '.') continue;
    const name = search.endsWith('.') ? search.slice(0, -1) : search;
    field.at(index).invalidEach(name, dns1123SubdomainWithUnderscoreProblems(name));
  }
}

export function validateHostAliases(aliases: readonly JsonObject[], field: Field): void {
  for (const [index, alias] of aliases.entries()) {
    field.add(validateLegacyIp(field.at(index, 'ip').path, textAt(alias, 'ip')));
    for (const [nameIndex, name] of textsAt(alias, 'hostnames').entries())
      field.at(index, 'hostnames', nameIndex).invalidEach(name, dns1123SubdomainProblems(name));
  }
}
