# In the place of the images of others that compose.yaml names: PostgreSQL is Debian's, SeaweedFS the program of its image.
ARG PYTHON
FROM ${PYTHON} AS postgres
RUN useradd --system --uid 999 postgres \
    && apt-get update && apt-get install --yes --no-install-recommends postgresql-15 \
    && install --directory --owner=postgres /var/lib/postgresql/data
COPY postgres.sh /usr/local/bin/entrypoint
ENV PATH=/usr/lib/postgresql/15/bin:$PATH PGDATA=/var/lib/postgresql/data
USER 999
ENTRYPOINT ["entrypoint"]
CMD ["postgres"]

FROM ${PYTHON} AS store
RUN apt-get update && apt-get install --yes --no-install-recommends wget
COPY --from=tools weed /usr/local/bin/
