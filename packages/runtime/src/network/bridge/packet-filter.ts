import type { NetlinkSocket } from '@podwright/system';
import type { HostRuleset } from './host-ruleset.ts';
import type { PortRule } from './port-rules.ts';

/** Implements the default network's rules in the kernel: `NftFilter`, or `IptablesFilter` if nf_tables does not work. */
export interface PacketFilter {
  /** Replaces all rules, whatever state they are in. */
  replace(ruleset: HostRuleset, ports: PortRule[]): Promise<void>;
  /** Changes the published ports. Fails if the rules are no longer as the last `replace` or `change` left them. */
  change(ruleset: HostRuleset, before: PortRule[], after: PortRule[]): Promise<void>;
  /** Returns true if the rules are certain to be unchanged since the last `replace` or `change`. */
  intact(): Promise<boolean>;
  /** Removes all of Podwright's rules. No error if there are none. */
  remove(ruleset: HostRuleset): Promise<void>;
}

/**
 * Returns the netfilter socket shared by all code of the bridge network, opening it on first use. It stays open because closing it would
 * block the main thread: after transactions that removed objects, close(2) waits for an RCU grace period of about 16 ms.
 */
export type NetfilterSocket = () => NetlinkSocket;
