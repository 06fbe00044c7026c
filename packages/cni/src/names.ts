/** Characters of a network name or a container id (spec section 2, "Parameters"). */
const namePattern = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,252}$/;

export const isNetworkName = (name: string): boolean => namePattern.test(name);
export const isContainerId = (id: string): boolean => namePattern.test(id);

/** A plugin's `type` must be a file name in a plugin directory, not a path. */
export function isPluginType(type: string): boolean {
  return type.length > 0 && type.length <= 255 && type !== '.' && type !== '..' && !/[/\\\0]/.test(type);
}

/** The kernel's rules for interface names: at most 15 bytes, no slash, colon or white space. */
export function isInterfaceName(name: string): boolean {
  return name !== '.' && name !== '..' && Buffer.byteLength(name) <= 15 && /^[^\s/:\0]+$/.test(name);
}
