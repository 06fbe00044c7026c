import { text, u32 } from './message.ts';
import { type NetlinkRequest, requestFlags } from './netlink-socket.ts';

// Constants from linux/rtnetlink.h, linux/pkt_sched.h, linux/pkt_cls.h and linux/tc_act/tc_mirred.h.
const RTM_NEWQDISC = 36;
const RTM_NEWTFILTER = 44;
const TCA_KIND = 1;
const TCA_OPTIONS = 2;
const TC_H_ROOT = 0xffffffff;
const TC_H_INGRESS = 0xfffffff1;
const INGRESS_HANDLE = 0xffff0000;
const ROOT_HANDLE = 0x00010000;
const TCA_TBF_PARMS = 1;
const TCA_TBF_RATE64 = 4;
const TCA_TBF_BURST = 6;
const TC_LINKLAYER_ETHERNET = 1;
const TCA_U32_SEL = 5;
const TCA_U32_ACT = 7;
const TC_U32_TERMINAL = 1;
const TCA_ACT_KIND = 1;
const TCA_ACT_OPTIONS = 2;
const TCA_MIRRED_PARMS = 2;
const TCA_EGRESS_REDIR = 1;
const TC_ACT_STOLEN = 4;
/** All protocols (linux/if_ether.h), in network byte order. */
const ETH_P_ALL = 0x0300;

/** Limits the rate of traffic leaving a link (qdisc `tbf`), replacing any earlier limit. */
export function limitRate(limit: {
  linkIndex: number;
  bytesPerSecond: number;
  /** Size of the token bucket. */
  burstBytes: number;
  /** Size of the queue. Packets that do not fit are dropped. */
  queueBytes: number;
}): NetlinkRequest {
  const rate = Math.min(limit.bytesPerSecond, 0xffffffff);
  // struct tc_tbf_qopt: two 12-byte struct tc_ratespec (u8 cell_log, u8 linklayer, …, u32 rate at offset 8), then u32 limit, buffer, mtu
  const parameters = Buffer.alloc(36);
  parameters[1] = TC_LINKLAYER_ETHERNET;
  parameters.writeUInt32LE(rate, 8);
  parameters.writeUInt32LE(limit.queueBytes, 24);
  const rate64 = Buffer.alloc(8);
  rate64.writeBigUInt64LE(BigInt(limit.bytesPerSecond));
  return {
    what: `limit the rate of link ${limit.linkIndex}`,
    type: RTM_NEWQDISC,
    flags: requestFlags.create | requestFlags.replace,
    body: header({ linkIndex: limit.linkIndex, handle: ROOT_HANDLE, parent: TC_H_ROOT }),
    attributes: [
      [TCA_KIND, text('tbf')],
      [
        TCA_OPTIONS,
        [
          [TCA_TBF_PARMS, parameters],
          [TCA_TBF_BURST, u32(limit.burstBytes)],
          [TCA_TBF_RATE64, rate64],
        ],
      ],
    ],
  };
}

/** Redirects all incoming packets of one link to the egress of another. */
export function redirectIncoming(from: number, to: number): NetlinkRequest[] {
  const link = `link ${from}`;
  // 16-byte struct tc_u32_sel (u8 flags, u8 offshift, u8 nkeys, …) with a single struct tc_u32_key, whose zeros match everything
  const selector = Buffer.alloc(16 + 16);
  selector[0] = TC_U32_TERMINAL;
  selector[2] = 1;
  // struct tc_mirred: u32 index, capab, i32 action, refcnt, bindcnt, eaction, u32 ifindex
  const mirred = Buffer.alloc(28);
  mirred.writeInt32LE(TC_ACT_STOLEN, 8);
  mirred.writeInt32LE(TCA_EGRESS_REDIR, 20);
  mirred.writeUInt32LE(to, 24);
  const action = [
    [TCA_ACT_KIND, text('mirred')],
    [TCA_ACT_OPTIONS, [[TCA_MIRRED_PARMS, mirred]]],
  ] as const;
  return [
    {
      what: `add an ingress qdisc to ${link}`,
      type: RTM_NEWQDISC,
      flags: requestFlags.create | requestFlags.replace,
      body: header({ linkIndex: from, handle: INGRESS_HANDLE, parent: TC_H_INGRESS }),
      attributes: [[TCA_KIND, text('ingress')]],
    },
    {
      what: `redirect incoming packets of ${link}`,
      type: RTM_NEWTFILTER,
      flags: requestFlags.create | requestFlags.excl,
      body: header({ linkIndex: from, handle: 0, parent: INGRESS_HANDLE, info: (1 << 16) | ETH_P_ALL }),
      attributes: [
        [TCA_KIND, text('u32')],
        [
          TCA_OPTIONS,
          [
            [TCA_U32_SEL, selector],
            [TCA_U32_ACT, [[1, action]]],
          ],
        ],
      ],
    },
  ];
}

/** struct tcmsg: u8 family, u8 and u16 padding, i32 link index, u32 handle, u32 parent, u32 info (priority and protocol of a filter). */
function header(of: { linkIndex: number; handle: number; parent: number; info?: number }): Buffer {
  const bytes = Buffer.alloc(20);
  bytes.writeInt32LE(of.linkIndex, 4);
  bytes.writeUInt32LE(of.handle, 8);
  bytes.writeUInt32LE(of.parent, 12);
  bytes.writeUInt32LE(of.info ?? 0, 16);
  return bytes;
}
