import { StreamsError } from "../errors.ts";

const IPV4_LOOPBACK = /^127(?:\.(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])){3}$/;

/** Whether a host name or address, without port and brackets, is this machine's loopback. */
export function isLoopbackName(host: string): boolean {
  const name = host.toLowerCase();
  return name === "localhost" || name === "::1" || IPV4_LOOPBACK.test(name);
}

/**
 * The host of an authority (`localhost:8080`, `[::1]:8080`), in lower case, without port and brackets.
 * Undefined when it is not `host[:port]`.
 */
export function hostOfAuthority(authority: string): string | undefined {
  const bracketed = /^\[([0-9a-f:.]+)\](?::[0-9]{1,5})?$/i.exec(authority);
  const plain = /^([^:[\]/?#@\s]+)(?::[0-9]{1,5})?$/.exec(authority);
  return (bracketed ?? plain)?.[1]?.toLowerCase();
}

/**
 * Refuses to listen where others could reach a service that asks for no token.
 * @throws StreamsError CONFIG_INVALID for a host other than loopback without tokens
 */
export function assertListenAllowed(host: string, hasTokens: boolean): void {
  if (hasTokens || isLoopbackName(host)) return;
  throw new StreamsError(
    "CONFIG_INVALID",
    `http.host ${JSON.stringify(host)} is not loopback: without http.tokensFile the service listens on 127.0.0.1, ::1 or localhost only`,
  );
}
