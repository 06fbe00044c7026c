import { chmodSync, lstatSync, mkdirSync, statSync } from 'node:fs';

/*
 * The modes of everything that Podwright creates on the host (chmod(2)); no other source file contains a mode. A mode here says what
 * other users of the host may do. Containers reach a mounted file through the mount, so the modes of the directories above it on the
 * host do not matter to them.
 */

/** Only root has access. The default for directories. */
export const PRIVATE_DIRECTORY = 0o700;
/** Files, FIFOs and sockets to which only root has access. */
export const PRIVATE_FILE = 0o600;
/** An empty file that serves as a mount point. */
export const MOUNT_POINT_FILE = 0o400;

/** A directory above the root file systems of user-namespaced pods: all users may traverse it, not list it. */
export const TRAVERSABLE_DIRECTORY = 0o711;
/** The directory of a user-namespaced pod's container. Its group is the pod's root user, who may thus traverse it. */
export const MAPPED_ROOT_DIRECTORY = 0o710;

/** Container logs and their directories. The group may read: log collectors run as root or in root's group. */
export const LOG_DIRECTORY = 0o750;
export const LOG_FILE = 0o640;

/** Directories and files of a pod that containers with any user may read: mount points, /etc/hosts, a volume's files. */
export const CONTAINER_DIRECTORY = 0o755;
export const CONTAINER_FILE = 0o644;
/** The program itself, with the mode that other programs in its directory have. */
export const PROGRAM_FILE = 0o755;
/** A program that others may execute but not read: the kernel then does not let them trace it (prctl(2), PR_SET_DUMPABLE). */
export const UNREADABLE_PROGRAM = 0o711;
/** Directories and files that containers with any user may write, such as an emptyDir or the termination message. */
export const OPEN_DIRECTORY = 0o777;
export const OPEN_FILE = 0o666;
/** Bit added to a volume's directories for `fsGroup`, so that new files get the directory's group. */
export const SET_GROUP_ID = 0o2000;
/** Bits added for `fsGroup` to read-only files of a volume, to writable files, and to directories. */
export const GROUP_READABLE = 0o440;
export const GROUP_WRITABLE = 0o660;
export const GROUP_SEARCHABLE = 0o110;
/** A pod's directory below the kubelet's root, and subPath directories created in a volume, as upstream's kubelet creates them. */
export const POD_DIRECTORY = 0o750;
export const POD_FILE = 0o640;
/** Directories and files that hostPath volumes of the types DirectoryOrCreate and FileOrCreate create, as in upstream's kubelet. */
export const HOST_PATH_DIRECTORY = 0o755;
export const HOST_PATH_FILE = 0o644;

/** The umask of Podwright's daemons (umask(2)), for files that libraries create with their own modes. */
export const DAEMON_UMASK = 0o022;

/** Mode bits that Podwright only checks: execution, write access for group and others, and the sticky bit (inode(7)). */
export const EXECUTABLE = 0o111;
export const WRITABLE_BY_OTHERS = 0o022;
export const STICKY = 0o1000;

/** The permission bits of a mode (inode(7)). */
const PERMISSION_BITS = 0o777;

/**
 * Creates a private directory, and its missing parents. A directory that an earlier version made traversable becomes private. A
 * directory that another program created stays unchanged, because the entries that Podwright creates in it are private.
 */
export function makePrivateDirectory(path: string): void {
  mkdirSync(path, { recursive: true, mode: PRIVATE_DIRECTORY });
  revokeTraversal(path);
}

/**
 * Makes a directory with the mode TRAVERSABLE_DIRECTORY private again; other directories stay unchanged. No error if it does not
 * exist.
 */
export function revokeTraversal(path: string): void {
  const { mode = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
  if ((mode & PERMISSION_BITS) === TRAVERSABLE_DIRECTORY) chmodSync(path, PRIVATE_DIRECTORY);
}

/**
 * Sets the mode of a file or directory that an earlier version of Podwright may have created with another mode. No error if it does
 * not exist; symbolic links stay unchanged.
 */
export function mendMode(path: string, mode: number): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.isSymbolicLink()) return;
  if ((found.mode & PERMISSION_BITS) !== mode) chmodSync(path, mode);
}
