/** Credentials as in a Docker `config.json` entry or the CRI's AuthConfig; empty means anonymous. */
export type RegistryAuth = {
  username?: string;
  password?: string;
  /** base64 of `username:password`; used if those are absent. */
  auth?: string;
  identityToken?: string;
  registryToken?: string;
  /**
   * URL or host to which the credentials belong; other hosts, such as mirrors, do not get them. If empty, the registry and its
   * mirrors get them.
   */
  serverAddress?: string;
};
