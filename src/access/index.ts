export { createAccess } from "./access.ts";
export type { Access } from "./access.ts";
export { assertListenAllowed, hostOfAuthority, isLoopbackName } from "./loopback.ts";
export { ROLES, roleCovers } from "./roles.ts";
export type { Role } from "./roles.ts";
export { hashToken } from "./token.ts";
export { parseTokens, readTokensFile } from "./tokens-file.ts";
