/** The first packet of an SCTP association (RFC 9260, sections 3.1 and 3.3.2), for kernels without SCTP sockets. */
export function sctpInit(sourcePort: number, destinationPort: number): Buffer {
  const packet = Buffer.alloc(32);
  packet.writeUInt16BE(sourcePort, 0);
  packet.writeUInt16BE(destinationPort, 2);
  packet.writeUInt8(1, 12); // the chunk INIT, of 20 bytes
  packet.writeUInt16BE(20, 14);
  packet.writeUInt32BE(0x12345678, 16); // initiate tag
  packet.writeUInt32BE(1 << 16, 20); // window
  packet.writeUInt16BE(1, 24); // streams out and in
  packet.writeUInt16BE(1, 26);
  packet.writeUInt32LE(crc32c(packet), 8);
  return packet;
}

/** Computes SCTP's checksum bit by bit (RFC 9260, appendix A). */
function crc32c(bytes: Buffer): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  return ~crc >>> 0;
}
