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
