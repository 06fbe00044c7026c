export { filterConnections } from './accept-filter.ts';
export { deferAccept } from './deferred-accept.ts';
export { hasErrno, wrapFileError } from './errno.ts';
export { bindIdMapped, chownToMappedIds, type MappedUsers, mountAllIdMapped } from './id-mapped-mounts.ts';
export { type IdMappingSupport, probeIdMapping, trialMappings } from './id-mapping.ts';
export { lockDirectory, lockDirectoryItself } from './lock-directory.ts';
export { createCoveredNamespace, withMountNamespace } from './mount-namespace.ts';
export { mountFlags } from './mount-options.ts';
export {
  type MountEntry,
  mountsBelow,
  parseMountinfo,
  readMounts,
  unmountEntries,
  unmountOnce,
  unmountTree,
  unmountUnder,
} from './mountinfo.ts';
export { type Mount, mountAll, mountAllAsync } from './mounts.ts';
export {
  createNamespaces,
  createOwnedNamespaces,
  type NamespaceDependencies,
  preparePinDirectory,
  removeNamespace,
  setUpNamespaces,
  withNetworkNamespace,
} from './namespaces.ts';
export { addAddress, decodeAddress, type LinkAddress, listAddresses, removeAddress } from './netlink/addresses.ts';
export { deleteFlows, type Flow, flowsTo } from './netlink/conntrack.ts';
export { addressBytes, addressText, prefixMask } from './netlink/ip-address.ts';
export {
  addLink,
  addVethPair,
  changeLink,
  decodeLink,
  deleteLink,
  filterBridgedPackets,
  getLink,
  type Link,
  listLinks,
  withoutLinkLocalAddress,
} from './netlink/links.ts';
export { decodeAttributes, type NetlinkMessage, text } from './netlink/message.ts';
export { addForwarding } from './netlink/neighbours.ts';
export { type NetlinkRequest, NetlinkSocket, NetlinkSockets, requestFlags } from './netlink/netlink-socket.ts';
export type { IpVersion, NftExpression, NftVerdict } from './netlink/nft-encoding.ts';
export {
  comesIn,
  daddrIn,
  destinationTranslated,
  goesOut,
  inPrefix,
  jump,
  masquerade,
  ofVersion,
  toThisHost,
  translateDestination,
  verdict,
} from './netlink/nft-expressions.ts';
export {
  countRules,
  type NftChainSummary,
  type NftStoredElement,
  readChain,
  readElements,
  readForwardFilters,
  tableMentions,
} from './netlink/nft-inspection.ts';
export {
  addressWords,
  applyVerdict,
  fromThisHost,
  goTo,
  isInSet,
  loadAddress,
  loadConstant,
  loadDestinationPort,
  loadOriginalDestination,
  loadOriginalPort,
  loadProtocol,
  loadRandom,
  lookUp,
  masqueradeRandomly,
  ofKnownConnection,
  ofNeighbourDiscovery,
  ofNewConnection,
  ofProtocol,
  refuse,
  refuseTcp,
  toManyHosts,
  toPorts,
  translateTo,
  updateSet,
} from './netlink/nft-registers.ts';
export {
  changeElements,
  changeTable,
  type NftChain,
  type NftElement,
  type NftElementChange,
  type NftRule,
  type NftSet,
  type NftTable,
  type NftTableChange,
  type NftType,
  removeTable,
  replaceTable,
  rulesetGeneration,
} from './netlink/nftables.ts';
export {
  addDefaultRoute,
  type DefaultRoute,
  decodeDefaultRoute,
  decodeRoute,
  listRoutes,
  type Route,
} from './netlink/routes.ts';
export { SocketOwners, type TcpEnds } from './netlink/socket-owner.ts';
export { limitRate, redirectIncoming } from './netlink/traffic-control.ts';
export { newDirectoriesRemover } from './new-directories.ts';
export { chainLimiter } from './openssl.ts';
export { createPortDialer, type PortDialer } from './port-dialer.ts';
export { ProcessStarter, UNREAD_STAYS } from './process-starter.ts';
export {
  findByCommandLine,
  isInCgroup,
  isRunning,
  killProcessTrees,
  readCommandLine,
  readProcess,
  signalNumber,
  signalProcess,
} from './processes.ts';
export { setProcessTerminalSize } from './pty.ts';
export { resolveInRoot } from './root-path.ts';
export { SeqpacketSocket, SeqpacketSockets } from './seqpacket.ts';
export { type DeviceNode, loadSystem, System } from './system.ts';
export { grantTraversal, grantTraversalAbove } from './traversal.ts';
export { hostIdOf, type IdMapping, type IdMappings, withUserNamespace } from './user-namespace.ts';
