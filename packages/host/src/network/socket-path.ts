/**
 * Longest path of a unix socket: `sun_path` has 108 bytes including the final NUL (unix(7)). In a separate module, so that commands need
 * not load the code that serves sockets.
 */
export const MAX_SOCKET_PATH_BYTES = 107;
