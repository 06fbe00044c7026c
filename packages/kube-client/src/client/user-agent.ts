import { VERSION } from '@podwright/base';

/** The `User-Agent` of all requests. */
export const USER_AGENT = `podwright/${VERSION} (linux/${process.arch === 'x64' ? 'amd64' : process.arch})`;
