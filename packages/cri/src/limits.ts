/** The largest message that either side accepts: 16 MiB, as the kubelet and the established runtimes have it. */
export const MAX_MESSAGE_BYTES = 16 << 20;
