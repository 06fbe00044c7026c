import { chmodSync, lstatSync, mkdirSync, statSync } from 'node:fs';

/*
 * The modes of everything that Podwright makes on the host (chmod(2)); no other file has one. A mode here says what other users
 * of the host may do. What a container finds at the end of a mount is reached through the mount, not through the directories
 * above it on the host.
 */

/** The rule: root's alone. */
export const PRIVATE_DIRECTORY = 0o700;
/** Files, FIFOs and sockets that are root's alone. */
export const PRIVATE_FILE = 0o600;
/** A file that holds a place for a mount and has no content. */
export const MOUNT_POINT_FILE = 0o400;

/** A directory above the root file systems of user-namespaced pods: all users may traverse it, not list it. */
export const TRAVERSABLE_DIRECTORY = 0o711;
/** The directory of one user-namespaced pod's container: its group is the pod's root, which so may pass it. */
export const MAPPED_ROOT_DIRECTORY = 0o710;

/** Logs of containers and the directories around them: log collectors are in root's group, if they are not root. */
export const LOG_DIRECTORY = 0o750;
export const LOG_FILE = 0o640;

/** What a container with any user finds as directory or file of the pod: mount points, /etc/hosts, a volume's files. */
export const CONTAINER_DIRECTORY = 0o755;
export const CONTAINER_FILE = 0o644;
/** A program that others may run and not read: the kernel then lets none of them trace it (prctl(2), PR_SET_DUMPABLE). */
export const UNREADABLE_PROGRAM = 0o711;
/** What a container with any user may write: an emptyDir, the termination message. */
export const OPEN_DIRECTORY = 0o777;
export const OPEN_FILE = 0o666;
/** Added to a volume's directories for `fsGroup`: new files have the directory's group. */
export const SET_GROUP_ID = 0o2000;
/** Added to files of a volume for `fsGroup`: to those that the node writes, to those that containers write, and to directories. */
export const GROUP_READABLE = 0o440;
export const GROUP_WRITABLE = 0o660;
export const GROUP_SEARCHABLE = 0o110;
/** A pod's directory at the kubelet, and what is made in a volume for a subPath, as the kubelet makes them. */
export const POD_DIRECTORY = 0o750;
export const POD_FILE = 0o640;
/** What hostPath volumes of the types DirectoryOrCreate and FileOrCreate make, as the kubelet makes them. */
export const HOST_PATH_DIRECTORY = 0o755;
export const HOST_PATH_FILE = 0o644;

/** What our daemons take from the modes that a program asks for without naming one of these (umask(2)). */
export const DAEMON_UMASK = 0o022;

/** Bits of modes that are looked at: which other users may write, and that only owners may remove (inode(7)). */
export const WRITABLE_BY_OTHERS = 0o022;
export const STICKY = 0o1000;

/** The bits of a mode that say which users may read, write and execute (inode(7)). */
const PERMISSION_BITS = 0o777;

/**
 * Creates a private directory, and its missing parents. A directory that an earlier version made traversable becomes private;
 * one that another program created stays unchanged, as its entries are private.
 */
export function makePrivateDirectory(path: string): void {
  mkdirSync(path, { recursive: true, mode: PRIVATE_DIRECTORY });
  revokeTraversal(path);
}

/** Makes a directory that all users may traverse private again; others stay unchanged. No error if it does not exist. */
export function revokeTraversal(path: string): void {
  const { mode = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
  if ((mode & PERMISSION_BITS) === TRAVERSABLE_DIRECTORY) chmodSync(path, PRIVATE_DIRECTORY);
}

/**
 * Gives a file or directory of ours exactly this mode, which an earlier version may have made with another. No error if there
 * is none; links are not followed.
 */
export function mendMode(path: string, mode: number): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.isSymbolicLink()) return;
  if ((found.mode & PERMISSION_BITS) !== mode) chmodSync(path, mode);
}
