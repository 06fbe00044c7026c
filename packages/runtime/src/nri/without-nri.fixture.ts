import { NriHooks, type NriHooksDependencies } from './nri-hooks.ts';

/** Hooks of a container runtime in which NRI is disabled. They use none of the dependencies. */
export const withoutNri = new NriHooks({ adaptation: undefined } as NriHooksDependencies);
