/** Text of `--help`. */
export const HELP = `ysearch-streams: the ingestion service of ysearch

  ysearch-streams [serve] [--config FILE]      run the service
  ysearch-streams check [--config FILE]        read the configuration and the files it names; start nothing
  ysearch-streams --print-config [--config FILE]
                                               print what is in force and where each value comes from
  ysearch-streams apply --url URL [--token-file FILE] [--config FILE] [--dry-run]
                                               put the file's sources in force on a running service
  ysearch-streams hash-token --name NAME --role viewer|operator|admin
                                               read a token on standard input, print its line for http.tokensFile
  ysearch-streams kv repair --owner OWNER --reason TEXT --url URL [--token-file FILE] [--accept-loss]
                                               make a lost or damaged owner of the KV plane anew, on a running service
  ysearch-streams --help | --version

The configuration is streams.yaml in the working directory; STREAMS_CONFIG or --config names another.
docs/configuration.md has every key.

Exit codes: 0 done; 1 a fault, written to standard error; 2 a command line that asks for nothing that there is.
`;
