import type { NetlinkSocket } from '@podwright/system';
import type { HostRuleset } from './host-ruleset.ts';
import type { PortRule } from './port-rules.ts';

/** One way to have the default network's rules in the kernel: `NftFilter`, or `IptablesFilter` where that does not work. */
export interface PacketFilter {
  /** Makes all rules what they should be, whatever was there. */
  replace(ruleset: HostRuleset, ports: PortRule[]): Promise<void>;
  /** Gets from some published ports to others; fails where the rules are not what `replace` and `change` made of them. */
  change(ruleset: HostRuleset, before: PortRule[], after: PortRule[]): Promise<void>;
  /** Whether it is certain that nobody has touched the rules since. */
  intact(): Promise<boolean>;
  /** Removes every rule of ours. No error where there is none. */
  remove(ruleset: HostRuleset): Promise<void>;
}

/**
 * The one socket that everything here goes through, opened at its first use. It stays open, as closing it would hold the main
 * thread up: the kernel lets close(2) wait until what transactions have removed is out of use, an RCU grace period of some 16 ms.
 */
export type NetfilterSocket = () => NetlinkSocket;
