/** Credentials as in a Docker `config.json` entry or the CRI's AuthConfig; empty means anonymous. */
export type RegistryAuth = {
  username?: string;
  password?: string;
  /** base64 of `username:password`; used if those are absent. */
  auth?: string;
  identityToken?: string;
  registryToken?: string;
  /** URL or host to which the credentials belong. Other hosts, such as mirrors, do not get them. Empty: the registry and its mirrors. */
  serverAddress?: string;
};
