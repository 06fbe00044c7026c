/** Credentials as in a Docker `config.json` entry or the CRI's AuthConfig; an empty object means anonymous. */
export type RegistryAuth = {
  username?: string;
  password?: string;
  /** base64 of `username:password`; used if `username` and `password` are absent. */
  auth?: string;
  identityToken?: string;
  registryToken?: string;
  /**
   * URL or host that the credentials are for; they are not sent to other hosts, such as mirrors. If empty, they are sent to the registry
   * and its mirrors.
   */
  serverAddress?: string;
};
