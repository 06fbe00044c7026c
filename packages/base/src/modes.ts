import { chmodSync, lstatSync, mkdirSync, statSync } from 'node:fs';

/*
 * The modes of everything that Podwright creates on the host (chmod(2)); no other source file contains a mode. A mode here says what
 * other users of the host may do. Containers reach a mounted file through the mount, so the modes of the directories above it on the
 * host do not matter to them.
 */

/** Mode of directories that only root can access; the default for directories. */
export const PRIVATE_DIRECTORY = 0o700;
/** Mode of files, FIFOs and sockets that only root can access. */
export const PRIVATE_FILE = 0o600;
/** Mode of an empty file that serves as a mount point. */
export const MOUNT_POINT_FILE = 0o400;

/** A parent directory of user-namespaced pods' root file systems. Any user may traverse it but not list it. */
export const TRAVERSABLE_DIRECTORY = 0o711;
/** A container's directory in a user-namespaced pod. Its group is that of the pod's root user, which allows that user to traverse it. */
export const MAPPED_ROOT_DIRECTORY = 0o710;

/** Container logs and their directories. Group-readable, because log collectors run as root or in root's group. */
export const LOG_DIRECTORY = 0o750;
export const LOG_FILE = 0o640;

/** A pod's directories and files that containers running as any user must be able to read: mount points, /etc/hosts, volume files. */
export const CONTAINER_DIRECTORY = 0o755;
export const CONTAINER_FILE = 0o644;
/** Mode of the podwright executable, like that of the other executables in its directory. */
export const PROGRAM_FILE = 0o755;
/** A program that others may execute but not read, so the kernel does not let them trace it (prctl(2), PR_SET_DUMPABLE). */
export const UNREADABLE_PROGRAM = 0o711;
/** Directories and files that containers running as any user must be able to write to, such as an emptyDir or the termination message. */
export const OPEN_DIRECTORY = 0o777;
export const OPEN_FILE = 0o666;
/** The set-group-ID bit, set on the directories of a volume with `fsGroup`, so that new files inherit the directory's group. */
export const SET_GROUP_ID = 0o2000;
/**
 * Permissions added in a volume with `fsGroup`: GROUP_READABLE to read-only files, GROUP_WRITABLE to writable files, and GROUP_SEARCHABLE
 * to directories.
 */
export const GROUP_READABLE = 0o440;
export const GROUP_WRITABLE = 0o660;
export const GROUP_SEARCHABLE = 0o110;
/** A pod's directory under the kubelet's root directory, and subPath directories created in a volume, as in upstream's kubelet. */
export const POD_DIRECTORY = 0o750;
export const POD_FILE = 0o640;
/** Directories and files created for hostPath volumes of type DirectoryOrCreate or FileOrCreate, as in upstream's kubelet. */
export const HOST_PATH_DIRECTORY = 0o755;
export const HOST_PATH_FILE = 0o644;

/** The umask (umask(2)) of Podwright's daemons, for files that libraries create with their own modes. */
export const DAEMON_UMASK = 0o022;

/**
 * Mode bits that Podwright checks but never sets: execute permission, write permission for group and others, and the sticky bit (inode(7)).
 */
export const EXECUTABLE = 0o111;
export const WRITABLE_BY_OTHERS = 0o022;
export const STICKY = 0o1000;

const PERMISSION_BITS = 0o777;

/**
 * Creates a private directory and its missing parents. A directory that an earlier version made traversable is made private again. A
 * directory created by another program is left unchanged, because what Podwright creates in it is private anyway.
 */
export function makePrivateDirectory(path: string): void {
  mkdirSync(path, { recursive: true, mode: PRIVATE_DIRECTORY });
  revokeTraversal(path);
}

/** Makes a directory with mode TRAVERSABLE_DIRECTORY private again; does nothing for other modes or if the directory does not exist. */
export function revokeTraversal(path: string): void {
  const { mode = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
  if ((mode & PERMISSION_BITS) === TRAVERSABLE_DIRECTORY) chmodSync(path, PRIVATE_DIRECTORY);
}

/**
 * Corrects the mode of a file or directory that an earlier version of Podwright may have created with a different one. Does nothing if it
 * does not exist or is a symbolic link.
 */
export function mendMode(path: string, mode: number): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.isSymbolicLink()) return;
  if ((found.mode & PERMISSION_BITS) !== mode) chmodSync(path, mode);
}
