/** Permitted network names and container IDs (spec section 2, "Parameters"). */
const namePattern = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,252}$/;

export const isNetworkName = (name: string): boolean => namePattern.test(name);
export const isContainerId = (id: string): boolean => namePattern.test(id);

/** Whether a plugin's `type` is a plain file name rather than a path. */
export function isPluginType(type: string): boolean {
  return type.length > 0 && type.length <= 255 && type !== '.' && type !== '..' && !/[/\\\0]/.test(type);
}

/** Whether the kernel accepts the name for an interface: at most 15 bytes, without slashes, colons or white space. */
export function isInterfaceName(name: string): boolean {
  return name !== '.' && name !== '..' && Buffer.byteLength(name) <= 15 && /^[^\s/:\0]+$/.test(name);
}
