import { lstatSync } from 'node:fs';
import { type DeviceNode, hasErrno, type System } from '@podwright/system';

/** A system call that only the main thread can make. The worker has verified that the path is inside the layer. */
export type SystemCall =
  | { call: 'device'; path: Uint8Array; device: DeviceNode; mode: number }
  | { call: 'fifo'; path: Uint8Array; mode: number }
  | { call: 'xattr'; path: Uint8Array; name: string; value: Uint8Array }
  | { call: 'copy-xattrs'; from: Uint8Array; path: Uint8Array };

/** The system calls beyond node:fs needed to unpack a layer. Calls may be deferred until `flush`. */
export interface LayerSystem {
  add(call: SystemCall): void;
  /** Makes the deferred calls in order. Throws the first error. */
  flush(): void;
  /** Whether this directory of a committed layer is opaque: overlayfs hides its contents in lower layers. */
  isOpaque(path: Uint8Array): boolean;
}

/** The extended attribute that marks a directory as opaque in overlayfs; its value is `y`. */
export const OPAQUE_XATTR = 'trusted.overlay.opaque';

/** Whether a directory is opaque. Main thread only. */
export function isOpaque(system: System, path: Uint8Array): boolean {
  return system.getXattr(Buffer.from(path), OPAQUE_XATTR)?.toString() === 'y';
}

/** Matches extended attributes that control overlayfs. They must not be set by a layer or copied from a lower layer. */
const forbiddenXattr = /^trusted\./;

/** Whether a layer may set this extended attribute. */
export function isLayerXattr(name: string): boolean {
  return !forbiddenXattr.test(name);
}

/** Makes the system calls in order. Main thread only. */
export function makeSystemCalls(system: System, calls: SystemCall[]): void {
  for (const call of calls) {
    const path = Buffer.from(call.path);
    if (call.call === 'device') system.makeDevice(path, call.device, call.mode);
    else if (call.call === 'fifo') system.makeFifo(path, call.mode);
    else if (call.call === 'xattr') setXattr(system, path, { name: call.name, value: Buffer.from(call.value) });
    else copyXattrs(system, Buffer.from(call.from), path);
  }
}

function copyXattrs(system: System, from: Buffer, to: Buffer): void {
  for (const name of system.listXattrs(from)) {
    const value = isLayerXattr(name) ? system.getXattr(from, name) : undefined;
    if (value !== undefined) setXattr(system, to, { name, value });
  }
}

/** Sets an extended attribute. Attributes not supported by the file system are ignored, as in other container runtimes. */
function setXattr(system: System, path: Buffer, { name, value }: { name: string; value: Buffer }): void {
  try {
    system.setXattr(path, name, value);
  } catch (error) {
    if (hasErrno(error, 'ENOTSUP')) return;
    // the kernel does not support user attributes on symbolic links, devices and pipes
    if (hasErrno(error, 'EPERM') && name.startsWith('user.') && !isFileOrDirectory(path)) return;
    throw error;
  }
}

function isFileOrDirectory(path: Buffer): boolean {
  const stat = lstatSync(path);
  return stat.isFile() || stat.isDirectory();
}
