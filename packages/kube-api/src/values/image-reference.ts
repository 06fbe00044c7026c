/** The parts of an image name, following the grammar of the distribution project's reference package. */
export type ImageReference = { registry: string; repository: string; tag: string; digest: string };

const MAX_NAME_LENGTH = 255;
const domain =
  /^(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\[[a-fA-F0-9:]+\])(?::\d+)?$/;
const pathComponent = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/;
const tagPattern = /^\w[\w.-]{0,127}$/;
const digestPattern = /^[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}$/;

/** Parses an image name in short or long form; `nginx` is parsed as `docker.io/library/nginx`. Returns `undefined` if it is invalid. */
export function parseImageReference(text: string): ImageReference | undefined {
  const [named = '', digest = '', ...more] = text.split('@');
  if (more.length > 0 || (text.includes('@') && !digestPattern.test(digest))) return undefined;
  const colon = named.lastIndexOf(':');
  const hasTag = colon > named.lastIndexOf('/');
  const tag = hasTag ? named.slice(colon + 1) : '';
  if (hasTag && !tagPattern.test(tag)) return undefined;
  const place = splitRegistry(hasTag ? named.slice(0, colon) : named);
  if (!domain.test(place.registry)) return undefined;
  if (!place.repository.split('/').every((part) => pathComponent.test(part))) return undefined;
  if (place.registry.length + 1 + place.repository.length > MAX_NAME_LENGTH) return undefined;
  return { ...place, tag, digest };
}

/**
 * Splits off the registry. The first component is the registry if it looks like a host: if it contains a dot, a port or uppercase letters,
 * or is `localhost`.
 */
function splitRegistry(name: string): { registry: string; repository: string } {
  const slash = name.indexOf('/');
  const first = name.slice(0, Math.max(slash, 0));
  const isHost = /[.:]/.test(first) || first === 'localhost' || first !== first.toLowerCase();
  if (slash > 0 && isHost) {
    const registry = first === 'index.docker.io' ? 'docker.io' : first;
    const rest = name.slice(slash + 1);
    return { registry, repository: registry === 'docker.io' && !rest.includes('/') ? `library/${rest}` : rest };
  }
  return { registry: 'docker.io', repository: slash < 0 ? `library/${name}` : name };
}

/** Returns the image name to pass to the container runtime: adds the tag `latest` if there is neither a tag nor a digest. */
export function withDefaultTag(image: string, reference: ImageReference): string {
  return reference.tag === '' && reference.digest === '' ? `${image}:latest` : image;
}

/** Returns why a text is not a valid image name, with the error messages of the distribution project's reference package. */
export function nameProblem(text: string): string {
  const invalid = 'invalid reference format';
  if (text === '') return invalid;
  if (/^[a-f0-9]{64}$/.test(text))
    return `invalid repository name (${text}), cannot specify 64-byte hexadecimal strings`;
  const { repository } = splitRegistry(text);
  const remote = repository.split(':', 1)[0]!.replace(/^library\/(?=[^/]*$)/, '');
  if (remote !== remote.toLowerCase()) return `${invalid}: repository name (${remote}) must be lowercase`;
  const tooLong = withoutTag(text).length > MAX_NAME_LENGTH && parseImageReference(`a/${remote.slice(0, 100)}`);
  return tooLong ? `repository name must not be more than ${MAX_NAME_LENGTH} characters` : invalid;
}

/** Returns the image name as written, without its tag and digest. */
export function withoutTag(image: string): string {
  const [named = ''] = image.split('@', 1);
  const colon = named.lastIndexOf(':');
  return colon > named.lastIndexOf('/') ? named.slice(0, colon) : named;
}

/**
 * Returns the canonical spelling of an image name: `nginx` becomes `docker.io/library/nginx:latest`. Invalid names are returned unchanged.
 */
export function canonicalName(image: string): string {
  const reference = parseImageReference(image);
  if (reference === undefined) return image;
  const { registry, repository, tag, digest } = reference;
  const version = digest === '' ? `:${tag === '' ? 'latest' : tag}` : `${tag === '' ? '' : `:${tag}`}@${digest}`;
  return `${registry}/${repository}${version}`;
}
