__kernel void forces(__global const float4 *body, __global float4 *force, const int n, const float soft)
{
    const int i = get_global_id(0);
    const float4 me = body[i];
    float fx = 0.0f, fy = 0.0f, fz = 0.0f;
    for (int j = 0; j < n; j++) {
        const float4 other = body[j];
        const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
        const float r = rsqrt(dx * dx + dy * dy + dz * dz + soft);
        const float f = other.w * r * r * r;
        fx += f * dx;
        fy += f * dy;
        fz += f * dz;
    }
    force[i] = (float4)(fx, fy, fz, 0.0f);
}

/* Forces of a cut-off potential between an atom and those of its list. */
__kernel void neighbours(__global const float4 *atom, __global const int *list, __global float4 *force, const int atoms, const int listed, const float cut)
{
    const int i = get_global_id(0);
    const float4 me = atom[i];
    float4 f = (float4)(0.0f);
    for (int k = 0; k < listed; k++) {
        const float4 d = atom[list[k * atoms + i]] - me;
        const float r2 = d.x * d.x + d.y * d.y + d.z * d.z;
        if (r2 < cut) {
            const float inverse = 1.0f / (r2 + 0.001f), sixth = inverse * inverse * inverse;
            f += d * (inverse * sixth * (sixth - 0.5f));
        }
    }
    force[i] = f;
}

__kernel void nearest_centre(__global const float *point, __global const float *centre, __global int *nearest, const int points, const int centres, const int features)
{
    const int i = get_global_id(0);
    float best = MAXFLOAT;
    int found = 0;
    for (int c = 0; c < centres; c++) {
        float distance = 0.0f;
        for (int f = 0; f < features; f++) {
            const float d = point[f * points + i] - centre[c * features + f];
            distance += d * d;
        }
        if (distance < best) {
            best = distance;
            found = c;
        }
    }
    nearest[i] = found;
}

__kernel void spheres(__global const float4 *sphere, __global float *depth, const int count, const int wide, const int high)
{
    const int x = get_global_id(0), y = get_global_id(1);
    const float3 ray = normalize((float3)((float)x / wide - 0.5f, (float)y / high - 0.5f, 1.0f));
    float nearest = 1e9f;
    for (int k = 0; k < count; k++) {
        const float3 centre = sphere[k].xyz;
        const float along = dot(ray, centre);
        const float inside = sphere[k].w - dot(centre, centre) + along * along;
        if (inside > 0.0f) nearest = fmin(nearest, along - sqrt(inside));
    }
    depth[y * wide + x] = nearest;
}
