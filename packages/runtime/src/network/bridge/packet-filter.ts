import type { NetlinkSocket } from '@podwright/system';
import type { HostRuleset } from './host-ruleset.ts';
import type { PortRule } from './port-rules.ts';

/** Implements the default network's rules in the kernel: `NftFilter`, with `IptablesFilter` as the fallback. */
export interface PacketFilter {
  /** Replaces all of Podwright's rules, regardless of which of them exist. */
  replace(ruleset: HostRuleset, ports: PortRule[]): Promise<void>;
  /** Changes the published ports. Fails if the rules have changed since the last `replace` or `change`. */
  change(ruleset: HostRuleset, before: PortRule[], after: PortRule[]): Promise<void>;
  /** Returns true if the rules are certain to be unchanged since the last `replace` or `change`. */
  intact(): Promise<boolean>;
  /** Removes all of Podwright's rules, if there are any. */
  remove(ruleset: HostRuleset): Promise<void>;
}

/**
 * Returns the netfilter socket shared by the whole bridge network, opening it on first use. The socket stays open because closing it would
 * block the main thread: after transactions that removed objects, close(2) waits for an RCU grace period of about 16 ms.
 */
export type NetfilterSocket = () => NetlinkSocket;
